shared int x;

thread p {
  atomic { assume(x == 1); }
}

property deadlock_free;
