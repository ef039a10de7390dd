// IRIW: independent reads of independent writes.
// Source: AMD 2007, Architecture programmer's manual 2, section 7.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: a store becomes visible to all others at once, so the
// readers can disagree only if RMO reorders the loads of one reader.

shared int x, y;

thread p {
  x = 1;
}

thread q {
  y = 1;
}

thread s {
  r1 = x;
  r2 = y;
}

thread u {
  r1 = y;
  r2 = x;
}

final exists (s.r1 == 1 && s.r2 == 0 && u.r1 == 1 && u.r2 == 0);
