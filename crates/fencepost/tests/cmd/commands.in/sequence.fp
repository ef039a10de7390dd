// A writer publishes data and then counts without end.
shared int data, seq;

thread writer {
  data = 1;
  loop {
    seq = seq + 1;
  }
}

thread reader {
  s = seq;
  if (s != 0) assert(data == 1);
}
