// SB+sl-po+full: store buffering where one thread has a second, younger store after its store-load
// fence.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: SC forbids; TSO, PSO, RMO allow: the fence delays loads only until the stores before it
// are committed; z may still be pending.

shared int x, y, z;

thread p {
  x = 1;
  fence store_load;
  z = 1;
  r1 = y;
}

thread q {
  y = 1;
  fence;
  r1 = z;
}

final exists (p.r1 == 0 && q.r1 == 0);
