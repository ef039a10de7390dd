// Two concurrent increments may lose one; two sequential increments do not.
shared int x;

operation void inc() as i {
  r = x;
  x = r + 1;
}

client i|i;

final forall (x == 2);
