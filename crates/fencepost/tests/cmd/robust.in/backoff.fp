// A thread backs off: it resets its flag and waits for its turn. The load of `turn` in a failed spin
// iteration may overtake the store of the flag.
shared bool flag = true;
shared int turn;

thread p {
  flag = false;
  do { t = turn; } while (t == 0);
}

thread q {
  turn = 1;
  fence;
  seen = flag;
}

observe q.seen;
