// S+ss+po: two stores against a load and a store with a store-store fence in p.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: the stores are in order; only RMO lets q's store
// overtake its load.

shared int x, y;

thread p {
  x = 2;
  fence store_store;
  y = 1;
}

thread q {
  r1 = y;
  x = 1;
}

final exists (x == 2 && q.r1 == 1);
