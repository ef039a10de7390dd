// 3.SB: a ring of three threads, each storing one location and loading the next.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy.
// Expected: SC forbids; TSO, PSO, RMO allow: all three stores may still be pending when the loads
// read memory.

shared int x, y, z;

thread p {
  x = 1;
  r1 = y;
}

thread q {
  y = 1;
  r1 = z;
}

thread s {
  z = 1;
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0 && s.r1 == 0);
