// Dijkstra's mutual exclusion algorithm for two threads, entered repeatedly, with one full fence
// per thread.
// Source: Dijkstra 1965, Solution of a problem in concurrent programming control. wants[i] is the
// paper's not b[i], inside[i] is not c[i], turn is k.
// Expected: verified everywhere: inside[i] is visible before the other's is read. This alone gives
// mutual exclusion; the rest is for progress. A waiting thread stores inside[i] = false in each
// iteration, so the buffers have no bound.

shared bool wants[2];
shared bool inside[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  loop {
    wants[i] = true;
    again:
    t = turn;
    if (t != i) {
      inside[i] = false;
      t = turn;
      w = wants[t];
      if (!w) turn = i;
      goto again;
    }
    inside[i] = true;
    fence;
    o = inside[1 - i];
    if (o) goto again;
    critical { skip; }
    inside[i] = false;
    wants[i] = false;
  }
}

property mutual_exclusion;
