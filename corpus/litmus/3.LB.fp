// 3.LB: a ring of three threads, each loading one location and storing the next.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy.
// Expected: SC, TSO, PSO forbid; RMO allows: only RMO lets a store overtake a load.

shared int x, y, z;

thread p {
  r1 = x;
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

final exists (p.r1 == 1 && q.r1 == 1 && s.r1 == 1);
