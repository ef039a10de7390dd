// Message passing with spinning and the fences that it needs.
// Source: see mp-spin.
// Expected: verified everywhere.

shared int data;
shared bool flag;

thread writer {
  data = 42;
  fence store_store;
  flag = true;
}

thread reader {
  while (!flag) skip;
  fence load_load;
  r = data;
}

final forall reader.r == 42;
