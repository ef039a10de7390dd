// 2+2W+sl+sl: two threads storing the same two locations in opposite order with store-load fences.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: the fences do not order two stores.

shared int x, y;

thread p {
  x = 1;
  fence store_load;
  y = 2;
}

thread q {
  y = 1;
  fence store_load;
  x = 2;
}

final exists (x == 1 && y == 1);
