// ISA2: message passing through a third thread.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: PSO and RMO may commit y before x.

shared int x, y, z;

thread p {
  x = 1;
  y = 1;
}

thread q {
  r1 = y;
  z = 1;
}

thread s {
  r1 = z;
  r2 = x;
}

final exists (q.r1 == 1 && s.r1 == 1 && s.r2 == 0);
