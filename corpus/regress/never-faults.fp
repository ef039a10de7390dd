// A condition that faults has no value, so `never` cannot be verified.
// Expected: violated under every model. `never` once treated a fault as "does not hold".

shared int x;

thread p {
  r = x;
}

final never 1 / x == 1;
