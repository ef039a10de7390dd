// 3.SB+full+full+po: a ring of three threads, each storing one location and loading the next, with
// full fences in two of them.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy.
// Expected: SC forbids; TSO, PSO, RMO allow: the third store may be pending while its thread loads,
// which is enough to close the ring.

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
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0 && s.r1 == 0);
