// CoWR: a store and a later load of one location.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy (coherence).
// Expected: forbidden everywhere: if the load reads 2, then x = 2 is the later store and is final.

shared int x;

thread p {
  x = 1;
  r1 = x;
}

thread q {
  x = 2;
}

final exists (p.r1 == 2 && x == 1);
