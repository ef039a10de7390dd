shared int data, flag;

thread writer {
  data = 1;
  flag = 1;
}

thread reader {
  f = flag;
  d = data;
}

final forall reader.f == 0 || reader.d == 1;
