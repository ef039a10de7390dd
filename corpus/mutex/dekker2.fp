// Dekker's mutual exclusion algorithm for two threads, entered repeatedly, with two full fences per
// thread, one after each store of true to the flag.
// Source: Dekker, in Dijkstra 1965, Cooperating sequential processes; a benchmark of [KVY11],
// [KVY10], [LW10], [BM08] and [Zac]. [KVY11] reports two fences without showing where; this is our
// reading.
// Expected: verified everywhere, see dekker1-tso: the same order, with one fence on each of the two
// paths to the load.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  loop {
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
        fence;
      }
    }
    critical { skip; }
    turn = 1 - i;
    want[i] = false;
  }
}

property mutual_exclusion;
