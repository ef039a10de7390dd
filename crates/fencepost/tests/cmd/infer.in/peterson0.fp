// Peterson's mutual exclusion algorithm for two threads, entered repeatedly, without fences.
// Source: Peterson 1981, Myths about the mutual exclusion problem; as loads and stores in [KVY11]
// Fig. 1.
// Expected: SC verified; TSO, PSO, RMO violated: each thread reads the other's flag as false while
// its own store to want[i] is still pending.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  loop {
    want[i] = true;
    turn = 1 - i;
    do {
      w = want[1 - i];
      t = turn;
    } while (w && t == 1 - i);
    critical { skip; }
    want[i] = false;
  }
}

property mutual_exclusion;
