// Peterson's algorithm for four threads (the filter lock), entered repeatedly, with one full fence
// per level, enough for TSO.
// Source: Peterson 1981; Herlihy, Shavit 2008, The art of multiprocessor programming, chapter 2.
// Expected: SC and TSO verified: level and victim are visible before the others' levels are read.
// The program is robust under TSO, so `auto` decides it from its SC states. Meant as a benchmark.

const N = 4;

shared int(0..N) level[N];
shared int(0..N) victim[N];

thread p(i in 0..N) {
  loop {
    for (l = 1; l < N; l++) {
      level[i] = l;
      victim[l] = i;
      fence;
      for (k = 0; k < N; k++) {
        if (k != i) {
          do {
            o = level[k];
            v = victim[l];
          } while (o >= l && v == i);
        }
      }
    }
    critical { skip; }
    level[i] = 0;
  }
}

property mutual_exclusion;
