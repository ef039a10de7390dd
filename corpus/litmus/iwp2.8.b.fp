// iwp2.8.b: message passing where the first store is a swap.
// Source: Intel 2007, memory ordering white paper, example 2.8.b (there with a full barrier).
// Expected: SC, TSO, PSO forbid; RMO allows: under TSO and PSO the swap is complete before y is
// stored; RMO may reorder the loads, or let y overtake the swap.

shared int x, y;

thread p {
  swap(x, 1);
  y = 1;
}

thread q {
  r1 = y;
  r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
