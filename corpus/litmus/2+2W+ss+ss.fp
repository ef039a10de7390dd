// 2+2W+ss+ss: two threads storing the same two locations in opposite order with store-store fences.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: forbidden everywhere: the stores of each thread are in order.

shared int x, y;

thread p {
  x = 1;
  fence store_store;
  y = 2;
}

thread q {
  y = 1;
  fence store_store;
  x = 2;
}

final exists (x == 1 && y == 1);
