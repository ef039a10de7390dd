// Store buffering.
shared int x, y;

thread p {
  x = 1;
  r = y;
}

thread q {
  y = 1;
  r = x;
}
