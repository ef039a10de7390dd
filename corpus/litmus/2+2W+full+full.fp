// 2+2W+full+full: two threads storing the same two locations in opposite order with full fences.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: forbidden everywhere: the stores of each thread are in order.

shared int x, y;

thread p {
  x = 1;
  fence;
  y = 2;
}

thread q {
  y = 1;
  fence;
  x = 2;
}

final exists (x == 1 && y == 1);
