// SB+ss-faddz+ss-faddw: store buffering with a store-store fence and an update of a private
// location in between.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: SC, TSO, PSO forbid; RMO allows: under PSO the update waits for the stores before the
// fence; under RMO they are ordered, but the load is ordered with neither.

shared int x, y, z, w;

thread p {
  x = 1;
  fence store_store;
  fetch_add(z, 1);
  r1 = y;
}

thread q {
  y = 1;
  fence store_store;
  fetch_add(w, 1);
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
