// A box for one message. Some sequential order of the operations must explain the results.
shared int data, full;
operation void put(int v) as p {
  data = v;
  full = 1;
}
operation int get() as g {
  int r = -1;
  if (full == 1) r = data;
  return r;
}
client p|g;
property sequentially_consistent operations;
