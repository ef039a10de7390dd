// Burns' one-bit mutual exclusion algorithm for two threads, entered repeatedly, without
// fences.
// Source: Burns 1981; Burns, Lynch 1993, Bounds on shared memory for mutual exclusion (the one-bit
// algorithm).
// Expected: SC verified; TSO, PSO, RMO violated: each thread reads the other's flag as false while
// its own store of true is pending.

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
