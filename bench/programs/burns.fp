// Burns' one-bit mutual exclusion algorithm for N threads, entered repeatedly, with one full fence
// per thread.
// Source: Burns 1981; Burns, Lynch 1993, Bounds on shared memory for mutual exclusion (the one-bit
// algorithm).
// Expected: verified under SC, TSO and PSO: flag[i] is visible before the loads that decide about
// entry. Each thread stores to one location, so PSO is TSO. A thread may go back to the start any
// number of times with flag[i] = false pending, so the buffers have no bound.
// Without the fence: SC verified, TSO and PSO violated.

const N = 4;

shared bool flag[N];

thread p(i in 0..N) {
  loop {
    start:
    flag[i] = false;
    for (j = 0; j < i; j++) {
      f = flag[j];
      if (f) goto start;
    }
    flag[i] = true;
    fence; // repair
    for (j = 0; j < i; j++) {
      f = flag[j];
      if (f) goto start;
    }
    for (j = i + 1; j < N; j++) {
      do { f = flag[j]; } while (f);
    }
    critical { skip; }
    flag[i] = false;
  }
}

property mutual_exclusion;
