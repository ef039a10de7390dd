// Dekker's mutual exclusion algorithm for two threads, entered repeatedly, where each thread waits
// only for its own flag (`drain`) instead of using a full fence.
// Source: Dekker, in Dijkstra 1965, Cooperating sequential processes; a benchmark of [KVY11],
// [KVY10], [LW10], [BM08] and [Zac]. The one-location fence is that of [KVY11] section 5.4.
// Expected: verified everywhere, by the argument of dekker1-tso, which does not depend on turn.
// Under TSO the drain empties the one queue up to want[i]. Under PSO and RMO no statement waits for
// turn, so its pending stores have no bound.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  loop {
    want[i] = true;
    loop {
      drain want[i];
      w = want[1 - i];
      if (!w) break;
      t = turn;
      if (t != i) {
        want[i] = false;
        do { t = turn; } while (t != i);
        want[i] = true;
      }
    }
    critical { skip; }
    turn = 1 - i;
    want[i] = false;
  }
}

property mutual_exclusion;
