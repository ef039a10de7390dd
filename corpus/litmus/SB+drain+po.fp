// SB+drain+po: store buffering where one thread waits until its own store is committed.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: SC forbids; TSO, PSO, RMO allow: the other store may still be pending while its thread
// loads.

shared int x, y;

thread p {
  x = 1;
  drain x;
  r1 = y;
}

thread q {
  y = 1;
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
