// Violates its property under SC, so no reordering is the cause.
shared int x;

thread p(i in 0..2) {
  r = x;
  x = r + 1;
}

final forall x == 2;
