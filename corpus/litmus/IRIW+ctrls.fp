// IRIW+ctrls: independent reads of independent writes where each reader loads again only after it
// has seen 1.
// Source: AMD 2007, Architecture programmer's manual 2, section 7.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid: the loads are in order. RMO allows: a control dependency does not
// order loads. rmo-nospec forbids: the second loads wait for the branches.

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
