// 3.SB+full+full+full: a ring of three threads, each storing one location and loading the next,
// with full fences.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy.
// Expected: forbidden everywhere: each store is visible before its thread loads.

shared int x, y, z;

thread p {
  x = 1;
  fence;
  r1 = y;
}

thread q {
  y = 1;
  fence;
  r1 = z;
}

thread s {
  z = 1;
  fence;
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0 && s.r1 == 0);
