// WWC: write-to-write causality.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy.
// Expected: SC, TSO, PSO forbid; RMO allows: the outcome needs a reordering of a load and a store
// inside q or s.

shared int x, y;

thread p {
  x = 2;
}

thread q {
  r1 = x;
  y = 1;
}

thread s {
  r1 = y;
  x = 1;
}

final exists (q.r1 == 2 && s.r1 == 1 && x == 2);
