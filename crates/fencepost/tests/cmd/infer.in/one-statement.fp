// Both loads are in one statement, so no fence can be placed between them.
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
