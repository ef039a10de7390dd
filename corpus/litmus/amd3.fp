// amd3: store buffering with two stores each.
// Source: AMD 2007, Architecture programmer's manual 2, section 7.2.
// Expected: SC forbids; TSO, PSO, RMO allow: the second stores may be pending when the loads read
// the first ones.

shared int x, y;

thread p {
  x = 1;
  x = 2;
  r1 = y;
}

thread q {
  y = 1;
  y = 2;
  r1 = x;
}

final exists (p.r1 == 1 && q.r1 == 1);
