// Dijkstra's mutual exclusion algorithm for N threads, entered repeatedly, with one full fence per
// thread.
// Source: Dijkstra 1965, Solution of a problem in concurrent programming control. wants[i] is the
// paper's not b[i], inside[i] is not c[i], turn is k.
// Expected: verified under SC, TSO and PSO: inside[i] is visible before the others' are read. A
// waiting thread stores inside[i] = false in each iteration, so the buffers have no bound.
// Without the fence: SC verified, TSO and PSO violated.

const N = 4;

shared bool wants[N];
shared bool inside[N];
shared int(0..N) turn;

thread p(i in 0..N) {
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
    fence; // repair
    for (j = 0; j < N; j++) {
      if (j != i) {
        o = inside[j];
        if (o) goto again;
      }
    }
    critical { skip; }
    inside[i] = false;
    wants[i] = false;
  }
}

property mutual_exclusion;
