// Two stores to one location become visible in program order.
shared int x = 0;

thread p {
  x = 1;
  x = 2;
}

thread q {
  r1 = x;
  r2 = x;
}

final forall (q.r1 <= q.r2);
