// CoWW: two stores to one location.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy (coherence).
// Expected: forbidden everywhere: stores of a thread to the same location stay in order.

shared int x;

thread p {
  x = 1;
  x = 2;
}

final exists (x == 1);
