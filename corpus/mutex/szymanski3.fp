// Szymanski's mutual exclusion algorithm for three threads, entered repeatedly, with two full
// fences per thread.
// Source: Szymanski 1988, see szymanski0. The tests of all flags are loops in ascending order, as
// usual; they are not atomic, and a loop that starts at i + 1 and wraps around is incorrect even
// under SC.
// Expected: verified everywhere, with the fences of szymanski2. Meant as a benchmark.

const N = 3;

shared int(0..=4) flag[N];

thread p(i in 0..N) {
  loop {
    flag[i] = 1;
    fence;
    for (j = 0; j < N; j++) {
      if (j != i) {
        do { f = flag[j]; } while (f >= 3);
      }
    }
    flag[i] = 3;
    fence;
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
