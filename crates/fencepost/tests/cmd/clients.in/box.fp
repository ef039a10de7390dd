// A box for one message. Operations return what they could return if each ran in one step.
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
