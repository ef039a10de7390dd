// MP+reuse+full: message passing where the reader uses one register for both loads and passes the
// first value on.
// Source: [KVY10], RLX; the trap of a machine without register renaming.
// Expected: SC, TSO, PSO forbid; RMO allows: under RMO the load of z may come first: y = r1 waits
// for the first load, not for the name r1.

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
