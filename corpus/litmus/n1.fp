// n1: a delayed store, seen late by a third thread.
// Source: Owens, Sarkar, Sewell 2009, x86-TSO, n1.
// Expected: SC forbids; TSO, PSO, RMO allow: x = 2 may be pending while p loads y, and be committed
// after q's x = 1.

shared int x, y;

thread p {
  x = 2;
  r1 = y;
}

thread q {
  y = 1;
  x = 1;
}

thread s {
  r1 = x;
  r2 = x;
}

final exists (p.r1 == 0 && s.r1 == 1 && s.r2 == 2);
