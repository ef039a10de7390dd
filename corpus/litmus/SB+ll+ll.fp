// SB+ll+ll: store buffering with load-load fences.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: SC forbids; TSO, PSO, RMO allow: the fences do not order a store with a load.

shared int x, y;

thread p {
  x = 1;
  fence load_load;
  r1 = y;
}

thread q {
  y = 1;
  fence load_load;
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
