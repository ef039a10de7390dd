// Message passing without a fence between data and flag.
shared int data, flag;

thread p {
  data = 1;
  flag = 1;
}

thread q {
  if (flag == 1) {
    d = data;
    assert(d == 1);
  }
}
