// Peterson's mutual exclusion algorithm for two threads, entered repeatedly, with two full fences
// per thread.
// Source: [KVY11] Fig. 2.
// Expected: verified everywhere: want[i] is visible before turn, and both before the loads. RMO may
// also reorder the two loads of the spin loop; the algorithm does not depend on their order.

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
    critical { skip; }
    want[i] = false;
  }
}

property mutual_exclusion;
