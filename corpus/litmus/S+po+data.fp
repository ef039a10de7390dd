// S+po+data: two stores against a load and a store where q stores what it loaded.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: PSO and RMO may commit y before x.

shared int x, y;

thread p {
  x = 2;
  y = 1;
}

thread q {
  r1 = y;
  x = r1;
}

final exists (x == 2 && q.r1 == 1);
