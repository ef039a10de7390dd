// SB+full+full: store buffering with a full fence on both sides.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: forbidden everywhere: each store is visible before its thread loads.

shared int x, y;

thread p {
  x = 1;
  fence;
  r1 = y;
}

thread q {
  y = 1;
  fence;
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
