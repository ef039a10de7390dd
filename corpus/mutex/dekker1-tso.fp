// Dekker's mutual exclusion algorithm for two threads, entered repeatedly, with one full fence per
// thread, before the load of the other's flag.
// Source: Dekker, in Dijkstra 1965, Cooperating sequential processes; a benchmark of [KVY11],
// [KVY10], [LW10], [BM08] and [Zac].
// Expected: verified everywhere. The fence is on both paths to that load (first try and after
// backing off), so want[i] is visible before the load; this alone gives mutual exclusion. turn only
// decides who backs off, so PSO may delay it: one fence is enough there, too. Loads that pass
// branches only read turn early, so this holds under RMO, too.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  loop {
    want[i] = true;
    loop {
      fence;
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
