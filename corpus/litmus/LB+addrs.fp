// LB+addrs: load buffering where each store needs the load for its address.
// Source: Intel 2007, memory ordering white paper, example 2.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: a store waits for its address.

shared int a[2], b[2];

thread p {
  r1 = a[0];
  b[r1 - r1] = 1;
}

thread q {
  r1 = b[0];
  a[r1 - r1] = 1;
}

final exists (p.r1 == 1 && q.r1 == 1);
