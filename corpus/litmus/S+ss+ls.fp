// S+ss+ls: two stores against a load and a store with a store-store and a load-store fence.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: forbidden everywhere: both threads keep their order.

shared int x, y;

thread p {
  x = 2;
  fence store_store;
  y = 1;
}

thread q {
  r1 = y;
  fence load_store;
  x = 1;
}

final exists (x == 2 && q.r1 == 1);
