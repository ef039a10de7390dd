// Three threads that change the same two locations: many traces, all of them of SC.
shared int x, y;

thread p(i in 0..3) {
  for (int k = 0; k < 2; k++) {
    fetch_add(x, 1);
    fetch_add(y, 1);
  }
}

final forall x == 6 && y == 6;
