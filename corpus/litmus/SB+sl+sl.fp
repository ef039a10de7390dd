// SB+sl+sl: store buffering with store-load fences.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: forbidden everywhere: the fence names exactly the pair that may be reordered.

shared int x, y;

thread p {
  x = 1;
  fence store_load;
  r1 = y;
}

thread q {
  y = 1;
  fence store_load;
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
