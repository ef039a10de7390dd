// 2+2W: two threads storing the same two locations in opposite order.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: PSO and RMO may reorder the stores of a thread.

shared int x, y;

thread p {
  x = 1;
  y = 2;
}

thread q {
  y = 1;
  x = 2;
}

final exists (x == 1 && y == 1);
