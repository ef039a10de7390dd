// LB+ls+ls: load buffering with load-store fences.
// Source: Intel 2007, memory ordering white paper, example 2.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: each load is done before its thread stores.

shared int x, y;

thread p {
  r1 = x;
  fence load_store;
  y = 1;
}

thread q {
  r1 = y;
  fence load_store;
  x = 1;
}

final exists (p.r1 == 1 && q.r1 == 1);
