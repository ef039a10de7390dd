// Dekker's mutual exclusion algorithm for two threads, entered once, without fences. Mutual exclusion
// is an invariant about the labels of the threads.
// Source: dekker0-once.
// Expected: as dekker0-once.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  want[i] = true;
  loop {
    w = want[1 - i];
    if (!w) break;
    t = turn;
    if (t != i) {
      want[i] = false;
      do { t = turn; } while (t != i);
      want[i] = true;
    }
  }
  inside: skip;
  turn = 1 - i;
  want[i] = false;
}

invariant !(p(0) at inside && p(1) at inside);
