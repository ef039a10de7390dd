// amd10: store buffering with full fences, where each thread first reads its own store.
// Source: AMD 2007, Architecture programmer's manual 2, section 7.2.
// Expected: forbidden everywhere: each store is visible before its thread loads.

shared int x, y;

thread p {
  x = 1;
  fence;
  r1 = x;
  r2 = y;
}

thread q {
  y = 1;
  fence;
  r1 = y;
  r2 = x;
}

final exists (p.r1 == 1 && p.r2 == 0 && q.r1 == 1 && q.r2 == 0);
