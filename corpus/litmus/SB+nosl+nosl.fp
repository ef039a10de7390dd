// SB+nosl+nosl: store buffering with fences of every kind except store-load.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: SC forbids; TSO, PSO, RMO allow: the store-load order is missing, which is the only one
// that matters here.

shared int x, y;

thread p {
  x = 1;
  fence store_store, load_load, load_store;
  r1 = y;
}

thread q {
  y = 1;
  fence store_store, load_load, load_store;
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
