// One fence suffices under PSO.
shared int data, flag;
thread p {
  data = 1;
  fence;
  flag = 1;
  fence;
}
thread q {
  if (flag == 1) {
    d = data;
    assert(d == 1);
  }
}
