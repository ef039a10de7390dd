// W+RWC+po+po+full: RWC with a second store in p and a full fence between store and load.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: z is visible before x is loaded; PSO and RMO may still
// commit y before x.

shared int x, y, z;

thread p {
  x = 1;
  y = 1;
}

thread q {
  r1 = y;
  r2 = z;
}

thread s {
  z = 1;
  fence;
  r1 = x;
}

final exists (q.r1 == 1 && q.r2 == 0 && s.r1 == 0);
