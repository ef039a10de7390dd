// RWC+po+full: read-to-write causality with a full fence between store and load.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: y is visible before x is loaded; only RMO may reorder
// the loads of q.

shared int x, y;

thread p {
  x = 1;
}

thread q {
  r1 = x;
  r2 = y;
}

thread s {
  y = 1;
  fence;
  r1 = x;
}

final exists (q.r1 == 1 && q.r2 == 0 && s.r1 == 0);
