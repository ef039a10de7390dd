// swap2: two threads swap their values into one location.
// Source: folklore.
// Expected: forbidden everywhere: each swap would have to come after the other.

shared int x;

thread p {
  r1 = swap(x, 1);
}

thread q {
  r1 = swap(x, 2);
}

final exists (p.r1 == 2 && q.r1 == 1);
