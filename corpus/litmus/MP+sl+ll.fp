// MP+sl+ll: message passing with a store-load fence in the writer.
// Source: Intel 2007, memory ordering white paper, example 2.1; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: the fence does not order two stores.

shared int x, y;

thread p {
  x = 1;
  fence store_load;
  y = 1;
}

thread q {
  r1 = y;
  fence load_load;
  r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
