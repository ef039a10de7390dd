// WRC+ls+po: write-to-read causality with a load-store fence in the middle thread.
// Source: Intel 2007, memory ordering white paper, example 2.5; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: RMO may reorder the loads of the last thread.

shared int x, y;

thread p {
  x = 1;
}

thread q {
  r1 = x;
  fence load_store;
  y = 1;
}

thread s {
  r1 = y;
  r2 = x;
}

final exists (q.r1 == 1 && s.r1 == 1 && s.r2 == 0);
