// iwp2.6: two readers of two stores to one location.
// Source: Intel 2007, memory ordering white paper, example 2.6 (also known as CoRR2).
// Expected: forbidden everywhere: all threads see the stores to one location in one order.

shared int x;

thread p {
  x = 1;
}

thread q {
  x = 2;
}

thread s {
  r1 = x;
  r2 = x;
}

thread u {
  r1 = x;
  r2 = x;
}

final exists (s.r1 == 1 && s.r2 == 2 && u.r1 == 2 && u.r2 == 1);
