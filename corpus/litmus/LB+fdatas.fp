// LB+fdatas: load buffering where the stored value mentions the loaded one without depending on it.
// Source: Intel 2007, memory ordering white paper, example 2.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: the dependency is syntactic: the store waits for the load.

shared int x, y;

thread p {
  r1 = x;
  y = r1 - r1 + 1;
}

thread q {
  r1 = y;
  x = r1 - r1 + 1;
}

final exists (p.r1 == 1 && q.r1 == 1);
