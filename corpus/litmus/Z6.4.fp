// Z6.4: three threads, a cycle of a store-store pair and two store-load pairs.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy; Maranget, Sarkar, Sewell 2012, tutorial on
// ARM and POWER.
// Expected: SC forbids; TSO, PSO, RMO allow: a store may be pending while its thread loads.

shared int x, y, z;

thread p {
  x = 1;
  y = 1;
}

thread q {
  y = 2;
  r1 = z;
}

thread s {
  z = 1;
  r1 = x;
}

final exists (y == 2 && q.r1 == 0 && s.r1 == 0);
