// W+RWC+ss+ll+full: RWC with a second store in p, a store-store, a load-load and a full fence.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: forbidden everywhere: every thread keeps its order.

shared int x, y, z;

thread p {
  x = 1;
  fence store_store;
  y = 1;
}

thread q {
  r1 = y;
  fence load_load;
  r2 = z;
}

thread s {
  z = 1;
  fence;
  r1 = x;
}

final exists (q.r1 == 1 && q.r2 == 0 && s.r1 == 0);
