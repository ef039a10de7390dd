// 2+2W+ss+po: two threads storing the same two locations in opposite order with a store-store fence
// in one thread.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: the stores of the other thread may be reordered.

shared int x, y;

thread p {
  x = 1;
  fence store_store;
  y = 2;
}

thread q {
  y = 1;
  x = 2;
}

final exists (x == 1 && y == 1);
