// iwp2.3.b: a load of the location stored before.
// Source: Intel 2007, memory ordering white paper, example 2.3.b.
// Expected: forbidden everywhere: a load sees its own thread's latest store, pending or not.

shared int x, y;

thread p {
  x = 1;
  r1 = x;
}

thread q {
  y = 1;
  r1 = y;
}

final exists (p.r1 == 0 || q.r1 == 0);
