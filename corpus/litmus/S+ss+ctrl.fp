// S+ss+ctrl: two stores against a load and a store with a store-store fence in p, where q stores
// only after it has seen 1.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: forbidden everywhere: a branch waits for the value it needs.

shared int x, y;

thread p {
  x = 2;
  fence store_store;
  y = 1;
}

thread q {
  r1 = y;
  if (r1 == 1) x = 1;
}

final exists (x == 2 && q.r1 == 1);
