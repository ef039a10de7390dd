// Peterson's mutual exclusion algorithm for two threads, entered repeatedly, with two full fences
// per thread. Mutual exclusion is an invariant about the labels of the threads.
// Source: peterson2.
// Expected: verified everywhere, as peterson2.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  loop {
    want[i] = true;
    fence;
    turn = 1 - i;
    fence;
    do {
      w = want[1 - i];
      t = turn;
    } while (w && t == 1 - i);
    inside: skip;
    want[i] = false;
  }
}

invariant !(p(0) at inside && p(1) at inside);
