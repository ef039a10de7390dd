// R+po+full: two stores against a store and a load with a full fence before the load.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: y = 2 is visible before the load; PSO and RMO may still
// commit p's y before x.

shared int x, y;

thread p {
  x = 1;
  y = 1;
}

thread q {
  y = 2;
  fence;
  r1 = x;
}

final exists (y == 2 && q.r1 == 0);
