// n4: two threads load, store and load one location.
// Source: Owens, Sarkar, Sewell 2009, x86-TSO, n4.
// Expected: forbidden everywhere: all stores to one location have one order.

shared int x;

thread p {
  r1 = x;
  x = 1;
  r2 = x;
}

thread q {
  r1 = x;
  x = 2;
  r2 = x;
}

final exists (p.r1 == 2 && p.r2 == 1 && q.r1 == 1 && q.r2 == 2);
