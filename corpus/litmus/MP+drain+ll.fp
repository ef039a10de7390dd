// MP+drain+ll: message passing where the writer waits until its first store is committed, with a
// load-load fence in the reader.
// Source: Intel 2007, memory ordering white paper, example 2.1; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: stores and loads are in order.

shared int x, y;

thread p {
  x = 1;
  drain x;
  y = 1;
}

thread q {
  r1 = y;
  fence load_load;
  r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
