// CoRW2: a load that sees another thread's store, and a later store.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy (coherence).
// Expected: forbidden everywhere: the thread's own store comes after the store that it read.

shared int x;

thread p {
  x = 1;
}

thread q {
  r1 = x;
  x = 2;
}

final exists (q.r1 == 1 && x == 1);
