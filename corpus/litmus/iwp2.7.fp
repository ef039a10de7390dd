// iwp2.7: independent reads of independent swaps.
// Source: Intel 2007, memory ordering white paper, example 2.7.
// Expected: SC, TSO, PSO forbid; RMO allows: as in IRIW, the outcome needs reordered loads.

shared int x, y;

thread p {
  swap(x, 1);
}

thread q {
  swap(y, 1);
}

thread s {
  r1 = x;
  r2 = y;
}

thread u {
  r1 = y;
  r2 = x;
}

final exists (s.r1 == 1 && s.r2 == 0 && u.r1 == 1 && u.r2 == 0);
