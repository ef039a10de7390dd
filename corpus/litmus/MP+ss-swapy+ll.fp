// MP+ss-swapy+ll: message passing where the second store is a swap after a store-store fence, with
// a load-load fence in the reader.
// Source: Intel 2007, memory ordering white paper, example 2.1; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: the swap waits for the stores before the fence.

shared int x, y;

thread p {
  x = 1;
  fence store_store;
  swap(y, 1);
}

thread q {
  r1 = y;
  fence load_load;
  r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
