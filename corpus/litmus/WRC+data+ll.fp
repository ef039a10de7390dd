// WRC+data+ll: write-to-read causality where the middle thread passes on what it loaded, with a
// load-load fence in the last thread.
// Source: Intel 2007, memory ordering white paper, example 2.5; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: forbidden everywhere: the store waits for its value.

shared int x, y;

thread p {
  x = 1;
}

thread q {
  r1 = x;
  y = r1;
}

thread s {
  r1 = y;
  fence load_load;
  r2 = x;
}

final exists (q.r1 == 1 && s.r1 == 1 && s.r2 == 0);
