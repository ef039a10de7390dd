// IRIW+full+full: independent reads of independent writes with full fences.
// Source: AMD 2007, Architecture programmer's manual 2, section 7.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: the loads are in order, and all see the stores in one order.

shared int x, y;

thread p {
  x = 1;
}

thread q {
  y = 1;
}

thread s {
  r1 = x;
  fence;
  r2 = y;
}

thread u {
  r1 = y;
  fence;
  r2 = x;
}

final exists (s.r1 == 1 && s.r2 == 0 && u.r1 == 1 && u.r2 == 0);
