// RWC: read-to-write causality.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC forbids; TSO, PSO, RMO allow: the store to y may be pending while its thread loads
// x.

shared int x, y;

thread p {
  x = 1;
}

thread q {
  r1 = x;
  r2 = y;
}

thread s {
  y = 1;
  r1 = x;
}

final exists (q.r1 == 1 && q.r2 == 0 && s.r1 == 0);
