// n5: two threads store and load one location.
// Source: Owens, Sarkar, Sewell 2009, x86-TSO, n5.
// Expected: forbidden everywhere: each would have to see the other's store as the later one.

shared int x;

thread p {
  x = 1;
  r1 = x;
}

thread q {
  x = 2;
  r1 = x;
}

final exists (p.r1 == 2 && q.r1 == 1);
