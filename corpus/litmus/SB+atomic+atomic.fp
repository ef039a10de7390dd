// SB+atomic+atomic: store buffering with the loads in atomic blocks.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: forbidden everywhere: an atomic block waits until its thread has no pending store.

shared int x, y;

thread p {
  x = 1;
  atomic { r1 = y; }
}

thread q {
  y = 1;
  atomic { r1 = x; }
}

final exists (p.r1 == 0 && q.r1 == 0);
