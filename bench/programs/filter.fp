// Peterson's algorithm for N threads (the filter lock), entered repeatedly, with two full fences
// per level.
// Source: Peterson 1981; Herlihy, Shavit 2008, The art of multiprocessor programming, chapter 2.
// Expected: verified under SC, TSO and PSO: level[i] is visible before victim[l], and both before
// the others' levels are read. TSO does not need the first fence.
// Without the fences: SC verified, TSO and PSO violated.

const N = 4;

shared int(0..N) level[N];
shared int(0..N) victim[N];

thread p(i in 0..N) {
  loop {
    for (l = 1; l < N; l++) {
      level[i] = l;
      fence; // repair
      victim[l] = i;
      fence; // repair
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
