// cas2: two threads compete with cas.
// Source: folklore.
// Expected: forbidden everywhere: only one cas reads 0.

shared int x;

thread p {
  r1 = cas(x, 0, 1);
}

thread q {
  r1 = cas(x, 0, 2);
}

final exists (p.r1 && q.r1);
