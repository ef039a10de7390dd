shared int data, flag;

thread p {
  data = 1;
  flag = 1;
}
thread q {
  f = flag;
  d = data;
}

final never q.f == 1 && q.d == 0;
