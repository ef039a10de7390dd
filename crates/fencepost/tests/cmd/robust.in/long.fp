// Many executions, all sequentially consistent.
shared int x;

thread p {
  for (int k = 0; k < 9; k++) { fetch_add(x, 1); }
}

thread q {
  for (int k = 0; k < 10; k++) { fetch_add(x, 1); }
}

final forall x == 19;
