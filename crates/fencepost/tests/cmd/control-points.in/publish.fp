shared int x;

thread p {
  x = 1;
  A: skip;
}

invariant !(p at A && x == 0);
