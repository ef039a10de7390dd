// W+RWC: RWC with a second store in p.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC forbids; TSO, PSO, RMO allow: the store to z may be pending while its thread loads
// x.

shared int x, y, z;

thread p {
  x = 1;
  y = 1;
}

thread q {
  r1 = y;
  r2 = z;
}

thread s {
  z = 1;
  r1 = x;
}

final exists (q.r1 == 1 && q.r2 == 0 && s.r1 == 0);
