// 3.2W: a ring of three threads, each storing two of three locations.
// Source: Alglave, Maranget, Sarkar, Sewell 2010, diy.
// Expected: SC, TSO forbid; PSO, RMO allow: PSO and RMO may reorder the stores of a thread.

shared int x, y, z;

thread p {
  x = 1;
  y = 2;
}

thread q {
  y = 1;
  z = 2;
}

thread s {
  z = 1;
  x = 2;
}

final exists (x == 1 && y == 1 && z == 1);
