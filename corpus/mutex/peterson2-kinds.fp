// Peterson's mutual exclusion algorithm for two threads, entered repeatedly, with the two weakest
// fences that can replace peterson2's full fences.
// Source: [KVY11] Fig. 2 with the finer fences of its section 5.4.
// Expected: verified everywhere. The first fence only has to keep want[i] before turn, the second
// only has to keep both stores before the loads.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  loop {
    want[i] = true;
    fence store_store;
    turn = 1 - i;
    fence store_load;
    do {
      w = want[1 - i];
      t = turn;
    } while (w && t == 1 - i);
    critical { skip; }
    want[i] = false;
  }
}

property mutual_exclusion;
