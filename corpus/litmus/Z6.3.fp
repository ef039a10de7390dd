// Z6.3: three threads, a cycle of two store-store pairs and a load-load pair.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy; Maranget, Sarkar, Sewell 2012, tutorial on
// ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: PSO and RMO may reorder the stores of p or q.

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
  r1 = z;
  r2 = x;
}

final exists (y == 2 && s.r1 == 1 && s.r2 == 0);
