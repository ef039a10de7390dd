// LB+ctrls: load buffering where each thread stores only if it has loaded 1.
// Source: Intel 2007, memory ordering white paper, example 2.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: a branch waits for the value it needs.

shared int x, y;

thread p {
  r1 = x;
  if (r1 == 1) y = 1;
}

thread q {
  r1 = y;
  if (r1 == 1) x = 1;
}

final exists (p.r1 == 1 && q.r1 == 1);
