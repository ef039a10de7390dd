// SB+assume: store buffering where a thread waits in an atomic block between its store and its
// load.
// Source: own, from SB.
// Expected: SC, TSO, PSO, RMO forbid: an atomic block drains the buffer before it runs.

shared int x, y, z = 1;

thread p {
  x = 1;
  atomic { assume(z == 1); }
  r1 = y;
}

thread q {
  y = 1;
  atomic { assume(z == 1); }
  r2 = x;
}

final exists (p.r1 == 0 && q.r2 == 0);
