// MP+ss+ll: message passing with a store-store and a load-load fence.
// Source: [KVY10] Fig. 2 with the fences found there.
// Expected: forbidden everywhere: stores and loads are in order.

shared int x, y;

thread p {
  x = 1;
  fence store_store;
  y = 1;
}

thread q {
  r1 = y;
  fence load_load;
  r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
