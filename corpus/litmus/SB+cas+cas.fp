// SB+cas+cas: store buffering with cas instead of stores.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: SC, TSO, PSO forbid; RMO allows: a cas acts on memory at once under TSO and PSO; under
// RMO a later load of another location may be performed before it.

shared int x, y;

thread p {
  cas(x, 0, 1);
  r1 = y;
}

thread q {
  cas(y, 0, 1);
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
