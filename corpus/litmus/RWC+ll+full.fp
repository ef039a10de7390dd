// RWC+ll+full: read-to-write causality with a load-load and a full fence.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: forbidden everywhere: every thread keeps its order.

shared int x, y;

thread p {
  x = 1;
}

thread q {
  r1 = x;
  fence load_load;
  r2 = y;
}

thread s {
  y = 1;
  fence;
  r1 = x;
}

final exists (q.r1 == 1 && q.r2 == 0 && s.r1 == 0);
