// A counter without a bound.
shared int n = 0;

thread p {
  loop {
    n = n + 1;
  }
}

thread q {
  loop {
    r = n;
    assert(r >= 0);
  }
}
