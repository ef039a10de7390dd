// SB+full+sl: store buffering with a full fence on one side and a store-load one on the other.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: forbidden everywhere: each fence orders the store before the load.

shared int x, y;

thread p {
  x = 1;
  fence;
  r1 = y;
}

thread q {
  y = 1;
  fence store_load;
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
