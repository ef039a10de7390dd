// R+ss+full: two stores against a store and a load with a store-store fence in p and a full one in
// q.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: forbidden everywhere: both threads keep their order.

shared int x, y;

thread p {
  x = 1;
  fence store_store;
  y = 1;
}

thread q {
  y = 2;
  fence;
  r1 = x;
}

final exists (y == 2 && q.r1 == 0);
