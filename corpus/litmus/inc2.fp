// inc2: two plain increments.
// Source: folklore: the lost update.
// Expected: allowed everywhere: both threads may load 0; x++ is a load and a store.

shared int x;

thread p {
  x++;
}

thread q {
  x++;
}

final exists (x == 1);
