// Peterson's mutual exclusion algorithm for two threads, entered repeatedly, with one full fence
// per thread, enough for TSO.
// Source: Peterson 1981, Myths about the mutual exclusion problem; as loads and stores in [KVY11]
// Fig. 1; the fence is the second one of Fig. 2.
// Expected: SC and TSO verified: both stores are visible before the flag of the other thread is
// loaded. PSO and RMO violated: turn may be committed before want[i]; the other thread then enters
// on want[i] == false, and its later store to turn lets this thread enter, too.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  loop {
    want[i] = true;
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
