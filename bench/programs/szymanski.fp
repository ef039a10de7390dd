// Szymanski's mutual exclusion algorithm for N threads, entered repeatedly, with two full fences
// per thread.
// Source: Szymanski 1988, A simple solution to Lamport's concurrent programming problem with linear
// wait. Flag values: 1 wants to enter, 2 waits inside the door, 3 is in the door, 4 has closed the
// door. The tests of all flags are loops in ascending order. They are not atomic.
// Expected: verified under SC, TSO and PSO: 1 is visible before the loop that waits for the door, 3
// before the loop that looks for a 1. Each thread stores to one location, so PSO is TSO.
// Without the fences: SC verified, TSO and PSO violated.

const N = 4;

shared int(0..=4) flag[N];

thread p(i in 0..N) {
  loop {
    flag[i] = 1;
    fence; // repair
    for (j = 0; j < N; j++) {
      if (j != i) {
        do { f = flag[j]; } while (f >= 3);
      }
    }
    flag[i] = 3;
    fence; // repair
    outside = false;
    for (j = 0; j < N; j++) {
      if (j != i) {
        f = flag[j];
        if (f == 1) outside = true;
      }
    }
    if (outside) {
      flag[i] = 2;
      closed = false;
      do {
        for (j = 0; j < N; j++) {
          if (j != i) {
            f = flag[j];
            if (f == 4) closed = true;
          }
        }
      } while (!closed);
    }
    flag[i] = 4;
    for (j = 0; j < i; j++) {
      do { f = flag[j]; } while (f >= 2);
    }
    critical { skip; }
    for (j = i + 1; j < N; j++) {
      do { f = flag[j]; } while (f == 2 || f == 3);
    }
    flag[i] = 0;
  }
}

property mutual_exclusion;
