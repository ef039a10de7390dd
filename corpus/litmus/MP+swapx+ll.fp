// MP+swapx+ll: message passing where the first store is a swap, with a load-load fence in the
// reader.
// Source: Intel 2007, memory ordering white paper, example 2.1; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: under TSO and PSO the swap is complete before y is
// stored; under RMO the store to y may overtake the swap.

shared int x, y;

thread p {
  swap(x, 1);
  y = 1;
}

thread q {
  r1 = y;
  fence load_load;
  r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
