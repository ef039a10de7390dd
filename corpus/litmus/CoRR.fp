// CoRR: two loads of one location.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy (coherence).
// Expected: forbidden everywhere: loads of the same location stay in order.

shared int x;

thread p {
  x = 1;
}

thread q {
  r1 = x;
  r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
