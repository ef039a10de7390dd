// MP+await: message passing where the reader waits for the flag with `await`.
// Source: MP+spin, written with `await`.
// Expected: SC, TSO forbid; PSO, RMO allow: PSO and RMO may commit y before x. The loop itself
// keeps the loads in order.

shared int x, y;

thread p {
  x = 1;
  y = 1;
}

thread q {
  await(y == 1);
  r2 = x;
}

final exists (q.r2 == 0);
