// Lamport's fast mutex for threads 1 to N, entered repeatedly, with three full fences per thread.
// Source: Lamport 1987, A fast mutual exclusion algorithm, algorithm 2.
// Expected: verified under SC, TSO and PSO: x = i is visible before y is read, y = i before x is,
// and the exit makes y = 0 visible before b[i] = false. TSO does not need the last fence.
// Without the fences: SC verified, TSO and PSO violated.

const N = 4;

shared bool b[N + 1];
shared int(0..=N) x, y;

thread p(i in 1..N + 1) {
  loop {
    start:
    b[i] = true;
    x = i;
    fence; // repair
    local_y = y;
    if (local_y != 0) {
      b[i] = false;
      while (local_y != 0) local_y = y;
      goto start;
    }
    y = i;
    fence; // repair
    local_x = x;
    if (local_x != i) {
      b[i] = false;
      for (j = 1; j <= N; j++) {
        do { other_b = b[j]; } while (other_b);
      }
      local_y = y;
      if (local_y != i) {
        while (local_y != 0) local_y = y;
        goto start;
      }
    }
    critical { skip; }
    y = 0;
    fence; // repair
    b[i] = false;
  }
}

property mutual_exclusion;
