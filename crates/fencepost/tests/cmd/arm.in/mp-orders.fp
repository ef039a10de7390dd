shared int data, flag;

thread writer {
  data.store(1, relaxed);
  flag.store(1, release);
}

thread reader {
  f = flag.load(acquire);
  d = data.load(relaxed);
}

final never (reader.f == 1 && reader.d == 0);
