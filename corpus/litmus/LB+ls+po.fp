// LB+ls+po: load buffering with a load-store fence on one side only.
// Source: Intel 2007, memory ordering white paper, example 2.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: the other thread may still store before it loads.

shared int x, y;

thread p {
  r1 = x;
  fence load_store;
  y = 1;
}

thread q {
  r1 = y;
  x = 1;
}

final exists (p.r1 == 1 && q.r1 == 1);
