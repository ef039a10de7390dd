// IRIW+ctrls: independent reads of independent writes where each reader loads again only after it
// has seen 1.
// Source: AMD 2007, Architecture programmer's manual 2, section 7.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: a branch waits for the value it needs, which keeps the loads in
// order.

shared int x, y;

thread p {
  x = 1;
}

thread q {
  y = 1;
}

thread s {
  r1 = x;
  if (r1 == 1) r2 = y;
}

thread u {
  r1 = y;
  if (r1 == 1) r2 = x;
}

final exists (s.r1 == 1 && s.r2 == 0 && u.r1 == 1 && u.r2 == 0);
