// Z6.0: three threads, a cycle of a store-store, a load-store and a store-load pair.
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
  r1 = y;
  z = 1;
}

thread s {
  z = 2;
  r1 = x;
}

final exists (q.r1 == 1 && z == 2 && s.r1 == 0);
