// Two plain increments may lose one: incorrect under every model.
shared int x;
thread p(i in 0..2) {
  r = x;
  x = r + 1;
}
final forall x == 2;
