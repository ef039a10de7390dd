// Message passing: first data, then the flag.
shared int data, flag;
thread p {
  data = 1;
  flag = 1;
}
thread q {
  f = flag;
  d = data;
  assert(f == 0 || d == 1);
}
