// LB+datas: load buffering where each thread stores what it loaded.
// Source: Intel 2007, memory ordering white paper, example 2.2; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: a store waits for its value; 1 would come out of thin air.

shared int x, y;

thread p {
  r1 = x;
  y = r1;
}

thread q {
  r1 = y;
  x = r1;
}

final exists (p.r1 == 1 && q.r1 == 1);
