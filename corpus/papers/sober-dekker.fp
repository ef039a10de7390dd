// Dekker's mutual exclusion algorithm for two threads with two critical sections each, without
// fences.
// Source: [BM08] Fig. 4(a), dekker (2 threads, 2 crit-sec); our encoding of the algorithm in
// Dijkstra 1965, Cooperating sequential processes. The steps are those of dekker0 in the folder
// mutex; the loop is rotated: the first try and the try after backing off share one store, and each
// spin loop only re-reads. A thread backs off at most once for each section: turn stays its own
// until it leaves. So only the spin loops are unbounded.
// Expected: SC verified; TSO, PSO, RMO violated: each thread reads the other's flag as false while
// its own store to want[i] is still pending. Not robust under TSO for this reason and for the one
// in sober-dekker-fenced.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  for (int k = 0; k < 2; k++) {
    loop {
      want[i] = true;
      loop {
        w = want[1 - i];
        if (!w) break;
        t = turn;
        if (t != i) break;
      }
      if (!w) break;
      want[i] = false;
      do { t = turn; } while (t != i);
    }
    critical { skip; }
    turn = 1 - i;
    want[i] = false;
  }
}

property mutual_exclusion;
