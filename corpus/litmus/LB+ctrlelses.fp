// LB+ctrlelses: load buffering where both branches store the same value.
// Source: Intel 2007, memory ordering white paper, example 2.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: a branch waits even if both arms are equal; a compiler that
// merged the arms would allow more outcomes.

shared int x, y;

thread p {
  r1 = x;
  if (r1 == 1) y = 1; else y = 1;
}

thread q {
  r1 = y;
  if (r1 == 1) x = 1; else x = 1;
}

final exists (p.r1 == 1 && q.r1 == 1);
