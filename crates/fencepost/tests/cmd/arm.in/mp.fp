// Message passing: relaxed accesses are reordered, a release store and an acquire load are not.
shared int data, flag;

thread writer {
  data = 1;
  flag = 1;
}

thread reader {
  f = flag;
  d = data;
}

final never (reader.f == 1 && reader.d == 0);
