// Z6.0+ss+ls+full: Z6.0 with a store-store, a load-store and a full fence.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy; Maranget, Sarkar, Sewell 2012, tutorial on
// ARM and POWER.
// Expected: forbidden everywhere: every thread keeps its order.

shared int x, y, z;

thread p {
  x = 1;
  fence store_store;
  y = 1;
}

thread q {
  r1 = y;
  fence load_store;
  z = 1;
}

thread s {
  z = 2;
  fence;
  r1 = x;
}

final exists (q.r1 == 1 && z == 2 && s.r1 == 0);
