// MP+spin: message passing where the reader waits for the flag.
// Source: Intel 2007, memory ordering white paper, example 2.1; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: PSO and RMO may commit y before x. The loop itself
// keeps the loads in order.

shared int x, y;

thread p {
  x = 1;
  y = 1;
}

thread q {
  do { r1 = y; } while (r1 == 0);
  r2 = x;
}

final exists (q.r2 == 0);
