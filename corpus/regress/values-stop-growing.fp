// A register counts to 90 and stops while a buffer grows without bound: neither may stop the proof.
// Expected: verified under SC, TSO and PSO; x is 0, 1 or 2. RMO is not recorded.

shared int x;
shared int y;

thread p {
  loop {
    x = 1;
    x = 2;
  }
}

thread q {
  n = 0;
  while (n != 90) {
    a = x;
    n = n + 1 + (a - a);
  }
  y = n;
}

thread r {
  loop {
    b = x;
    d = x;
    assert(b + d < 5);
  }
}
