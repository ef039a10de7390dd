// Two increments at the same time may lose one; one after the other they do not.
shared int x;

operation void inc() as i {
  r = x;
  x = r + 1;
}

client i|i;

final forall (x == 2);
