// R: two stores against a store and a load.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC forbids; TSO, PSO, RMO allow: the store of 2 may be pending while q loads x.

shared int x, y;

thread p {
  x = 1;
  y = 1;
}

thread q {
  y = 2;
  r1 = x;
}

final exists (y == 2 && q.r1 == 0);
