// CoRW1: a load and a later store of one location.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy (coherence).
// Expected: forbidden everywhere: a load does not see a later store of its own thread.

shared int x;

thread p {
  r1 = x;
  x = 1;
}

final exists (p.r1 == 1);
