// SB+drainz+drainw: store buffering where each thread waits until a younger store to a private
// location is committed.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: SC, TSO forbid; PSO, RMO allow: TSO has one queue, so the older store is committed,
// too; under PSO and RMO it may still be pending.

shared int x, y, z, w;

thread p {
  x = 1;
  z = 1;
  drain z;
  r1 = y;
}

thread q {
  y = 1;
  w = 1;
  drain w;
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
