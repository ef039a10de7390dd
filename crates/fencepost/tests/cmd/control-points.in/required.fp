shared int x;

thread p {
  x = 1;
  r = 2;
  A: skip;
  goto A;
}

property may_hang;
invariant x == 0 || p at A;
