// Both loads are in one statement, where no fence can stand.
shared int data, flag;
thread p {
  data = 1;
  fence store_store;
  flag = 1;
}
thread q {
  r = flag * 2 + data;
  assert(r != 2);
}
