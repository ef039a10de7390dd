// MP+ss+spin: message passing where the reader waits for the flag, with a store-store fence in the
// writer.
// Source: Intel 2007, memory ordering white paper, example 2.1; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid: the stores are in order, and so are the loads. RMO allows: the load
// of x may be performed before the loop ends. rmo-nospec forbids: the load waits for the branch.

shared int x, y;

thread p {
  x = 1;
  fence store_store;
  y = 1;
}

thread q {
  do { r1 = y; } while (r1 == 0);
  r2 = x;
}

final exists (q.r2 == 0);
