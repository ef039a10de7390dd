// A thread waits until two flags are set, with two loads and a computation in each round.
// Source: ours; a round may read one flag before and one after the other thread's stores, which is
// not a hang.
// Expected: verified everywhere.

shared int a, b;

thread waiter {
  int(0..=2) both;
  do {
    both = a;
    both = both + b;
  } while (both != 2);
}

thread setter {
  a = 1;
  b = 1;
}
