// S+ss+data: two stores against a load and a store with a store-store fence in p, where q stores
// what it loaded.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: forbidden everywhere: a store waits for its value.

shared int x, y;

thread p {
  x = 2;
  fence store_store;
  y = 1;
}

thread q {
  r1 = y;
  x = r1;
}

final exists (x == 2 && q.r1 == 1);
