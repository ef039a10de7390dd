// Burns' one-bit mutual exclusion algorithm for two threads, entered repeatedly, with one full
// fence per thread.
// Source: Burns 1981; Burns, Lynch 1993, Bounds on shared memory for mutual exclusion (the one-bit
// algorithm).
// Expected: verified everywhere: flag[i] is visible before the loads that decide about entry. There
// is one location per thread, so PSO behaves like TSO. Thread 1 may go back to the start any number
// of times with flag[1] = false pending, so the buffers have no bound.

shared bool flag[2];

thread p(i in 0..2) {
  loop {
    start:
    flag[i] = false;
    for (j = 0; j < i; j++) {
      f = flag[j];
      if (f) goto start;
    }
    flag[i] = true;
    fence;
    for (j = 0; j < i; j++) {
      f = flag[j];
      if (f) goto start;
    }
    for (j = i + 1; j < 2; j++) {
      do { f = flag[j]; } while (f);
    }
    critical { skip; }
    flag[i] = false;
  }
}

property mutual_exclusion;
