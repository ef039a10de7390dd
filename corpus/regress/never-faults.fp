// A condition that faults says nothing, so it cannot be known never to hold.
// Expected: violated under every model. `never` once took a fault for "does not hold".

shared int x;

thread p {
  r = x;
}

final never 1 / x == 1;
