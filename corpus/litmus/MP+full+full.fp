// MP+full+full: message passing with full fences.
// Source: Intel 2007, memory ordering white paper, example 2.1; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: stores and loads are in order.

shared int x, y;

thread p {
  x = 1;
  fence;
  y = 1;
}

thread q {
  r1 = y;
  fence;
  r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
