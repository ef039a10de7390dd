// LB+ctrl+po: load buffering where one thread stores only if it has loaded 1.
// Source: Intel 2007, memory ordering white paper, example 2.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: the other thread may store before it loads.

shared int x, y;

thread p {
  r1 = x;
  if (r1 == 1) y = 1;
}

thread q {
  r1 = y;
  x = 1;
}

final exists (p.r1 == 1 && q.r1 == 1);
