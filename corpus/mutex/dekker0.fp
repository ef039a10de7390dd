// Dekker's mutual exclusion algorithm for two threads, entered repeatedly, without fences.
// Source: Dekker, in Dijkstra 1965, Cooperating sequential processes; a benchmark of [KVY11],
// [KVY10], [LW10], [BM08] and [Zac].
// Expected: SC verified; TSO, PSO, RMO violated: each thread reads the other's flag as false while
// its own store to want[i] is still pending.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  loop {
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
    critical { skip; }
    turn = 1 - i;
    want[i] = false;
  }
}

property mutual_exclusion;
