// LB+ll+ll: load buffering with load-load fences.
// Source: Intel 2007, memory ordering white paper, example 2.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: the fences do not order a load with a store.

shared int x, y;

thread p {
  r1 = x;
  fence load_load;
  y = 1;
}

thread q {
  r1 = y;
  fence load_load;
  x = 1;
}

final exists (p.r1 == 1 && q.r1 == 1);
