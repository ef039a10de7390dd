// MP+drain+po: message passing where the writer waits until its first store is committed.
// Source: Intel 2007, memory ordering white paper, example 2.1; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: the stores are in order; only RMO may reorder the
// loads.

shared int x, y;

thread p {
  x = 1;
  drain x;
  y = 1;
}

thread q {
  r1 = y;
  r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
