// LB+swap+swap: load buffering with swaps instead of stores.
// Source: Intel 2007, memory ordering white paper, example 2.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: under RMO an update of another location may overtake a
// load.

shared int x, y;

thread p {
  r1 = x;
  swap(y, 1);
}

thread q {
  r1 = y;
  swap(x, 1);
}

final exists (p.r1 == 1 && q.r1 == 1);
