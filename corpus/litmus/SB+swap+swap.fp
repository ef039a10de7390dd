// SB+swap+swap: store buffering with swaps instead of stores.
// Source: Intel 2007, memory ordering white paper, example 2.8.a (there with a full barrier).
// Expected: SC, TSO, PSO forbid; RMO allows: a swap acts on memory at once under TSO and PSO; under
// RMO a later load of another location may be performed before it.

shared int x, y;

thread p {
  swap(x, 1);
  r1 = y;
}

thread q {
  swap(y, 1);
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
