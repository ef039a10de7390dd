// WRC: write-to-read causality.
// Source: Intel 2007, memory ordering white paper, example 2.5; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: a store becomes visible to all others at once, so the
// outcome needs a reordering inside q or s.

shared int x, y;

thread p {
  x = 1;
}

thread q {
  r1 = x;
  y = 1;
}

thread s {
  r1 = y;
  r2 = x;
}

final exists (q.r1 == 1 && s.r1 == 1 && s.r2 == 0);
