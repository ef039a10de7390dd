shared int data, flag, more;

thread writer {
  data.store(1, seq_cst);
  more.store(1, release);
  fence full;
  flag.store(1, release);
}

thread reader {
  f = flag.load(seq_cst);
  d = data.load(acquire);
}

final forall reader.f == 0 || reader.d == 1;
