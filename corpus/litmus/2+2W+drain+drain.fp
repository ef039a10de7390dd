// 2+2W+drain+drain: two threads storing the same two locations in opposite order where each thread
// waits until its first store is committed.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: forbidden everywhere: the stores of each thread are in order.

shared int x, y;

thread p {
  x = 1;
  drain x;
  y = 2;
}

thread q {
  y = 1;
  drain y;
  x = 2;
}

final exists (x == 1 && y == 1);
