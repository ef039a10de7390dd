// Message passing without a fence between data and flag.
shared int data, flag;

thread p {
  data = 1;
  flag = 1;
}

thread q {
  while (flag == 0) { }
  d = data;
}
