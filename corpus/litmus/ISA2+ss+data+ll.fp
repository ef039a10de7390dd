// ISA2+ss+data+ll: message passing through a third thread where the middle thread passes on what it
// loaded.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: forbidden everywhere: a store waits for its value.

shared int x, y, z;

thread p {
  x = 1;
  fence store_store;
  y = 1;
}

thread q {
  r1 = y;
  z = r1;
}

thread s {
  r1 = z;
  fence load_load;
  r2 = x;
}

final exists (q.r1 == 1 && s.r1 == 1 && s.r2 == 0);
