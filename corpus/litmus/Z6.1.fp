// Z6.1: three threads, a cycle of two store-store pairs and a load-store pair.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy; Maranget, Sarkar, Sewell 2012, tutorial on
// ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: PSO and RMO may reorder the stores of p or q.

shared int x, y, z;

thread p {
  x = 2;
  y = 1;
}

thread q {
  y = 2;
  z = 1;
}

thread s {
  r1 = z;
  x = 1;
}

final exists (y == 2 && s.r1 == 1 && x == 2);
