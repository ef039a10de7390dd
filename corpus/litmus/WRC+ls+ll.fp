// WRC+ls+ll: write-to-read causality with a load-store and a load-load fence.
// Source: Intel 2007, memory ordering white paper, example 2.5; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: all accesses are in order, and stores become visible to all
// others at once.

shared int x, y;

thread p {
  x = 1;
}

thread q {
  r1 = x;
  fence load_store;
  y = 1;
}

thread s {
  r1 = y;
  fence load_load;
  r2 = x;
}

final exists (q.r1 == 1 && s.r1 == 1 && s.r2 == 0);
