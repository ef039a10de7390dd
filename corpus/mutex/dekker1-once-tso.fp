// Dekker's mutual exclusion algorithm for two threads, entered once, with one full fence per
// thread.
// Source: Dekker, in Dijkstra 1965, Cooperating sequential processes; a benchmark of [KVY11],
// [KVY10], [LW10], [BM08] and [Zac]. Single entry, as in the experiments of [LW10] Table 2.
// Expected: verified under SC, TSO, PSO, rmo-nospec and arm; RMO is not decided. A thread that backs
// off waits for turn == i, which the other thread sets only after its only critical section, so the
// fence after the first store to the flag is enough.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  want[i] = true;
  fence;
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

property mutual_exclusion;
