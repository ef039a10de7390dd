// ISA2+ss+ls+ll: message passing through a third thread with a store-store, a load-store and a
// load-load fence.
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
  fence load_store;
  z = 1;
}

thread s {
  r1 = z;
  fence load_load;
  r2 = x;
}

final exists (q.r1 == 1 && s.r1 == 1 && s.r2 == 0);
