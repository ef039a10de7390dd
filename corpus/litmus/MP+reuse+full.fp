// MP+reuse+full: message passing where the reader uses one register for both loads and passes the
// first value on.
// Source: [KVY10], RLX; register renaming (without it, the outcome would be forbidden).
// Expected: SC, TSO, PSO forbid; RMO allows: under RMO the load of z may be performed first: y = r1
// waits for the first load, not for the register name r1.

shared int x, y, z;

thread p {
  r1 = x;
  y = r1;
  r1 = z;
}

thread q {
  z = 1;
  fence;
  x = 1;
}

final exists (y == 1 && p.r1 == 0);
