// Under TSO a failed assertion ends some runs. The loop fills the buffer, so the bound matters.
shared int x, y, done;
thread p {
  while (done == 0) x = 1;
  y = 1;
}
thread q {
  done = 1;
  r = x;
  s = y;
  assert(s == 0 || r == 1);
  assert(r == 0);
}
observe q.r, q.s;
