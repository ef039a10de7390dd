// Z6.5: three threads, a cycle of two store-store pairs and a store-load pair.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy; Maranget, Sarkar, Sewell 2012, tutorial on
// ARM and POWER.
// Expected: SC forbids; TSO, PSO, RMO allow: the store to z may be pending while its thread loads
// x.

shared int x, y, z;

thread p {
  x = 1;
  y = 1;
}

thread q {
  y = 2;
  z = 1;
}

thread s {
  z = 2;
  r1 = x;
}

final exists (y == 2 && z == 2 && s.r1 == 0);
