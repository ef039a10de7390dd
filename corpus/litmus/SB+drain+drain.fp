// SB+drain+drain: store buffering where each thread waits until its own store is committed.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: forbidden everywhere: the store is committed before the load.

shared int x, y;

thread p {
  x = 1;
  drain x;
  r1 = y;
}

thread q {
  y = 1;
  drain y;
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
