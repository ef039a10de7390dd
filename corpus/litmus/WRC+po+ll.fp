// WRC+po+ll: write-to-read causality with a load-load fence in the last thread.
// Source: Intel 2007, memory ordering white paper, example 2.5; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: RMO may let the store of the middle thread overtake
// its load.

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
  fence load_load;
  r2 = x;
}

final exists (q.r1 == 1 && s.r1 == 1 && s.r2 == 0);
