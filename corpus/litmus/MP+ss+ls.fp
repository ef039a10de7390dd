// MP+ss+ls: message passing with a load-store fence in the reader.
// Source: Intel 2007, memory ordering white paper, example 2.1; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: the fence does not order two loads.

shared int x, y;

thread p {
  x = 1;
  fence store_store;
  y = 1;
}

thread q {
  r1 = y;
  fence load_store;
  r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
