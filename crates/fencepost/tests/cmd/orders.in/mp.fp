shared int data, flag;

thread writer {
  data = 1;
  flag.store(1, relaxed);
}

thread reader {
  f = flag.load(relaxed);
  d = data;
}

final forall reader.f == 0 || reader.d == 1;
