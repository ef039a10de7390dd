// Z6.2: three threads, a cycle of a store-store pair and two load-store pairs.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy; Maranget, Sarkar, Sewell 2012, tutorial on
// ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: PSO and RMO may reorder the stores of p.

shared int x, y, z;

thread p {
  x = 2;
  y = 1;
}

thread q {
  r1 = y;
  z = 1;
}

thread s {
  r1 = z;
  x = 1;
}

final exists (q.r1 == 1 && s.r1 == 1 && x == 2);
