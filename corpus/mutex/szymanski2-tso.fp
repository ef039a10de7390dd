// Szymanski's mutual exclusion algorithm for two threads, entered repeatedly, with two store-load
// fences per thread.
// Source: Szymanski 1988, A simple solution to Lamport's concurrent programming problem with linear
// wait; a benchmark of [Zac]. Flag values: 1 wants to enter, 2 waits inside the door, 3 is in the
// door, 4 has closed the door.
// Expected: verified everywhere, as szymanski2: only stores before the fences and loads after them
// have to be kept in order. Each thread stores to one location only, so TSO and PSO are the same
// here. It loads one other location only, so its loads stay in order, and RMO is the same, too.

shared int(0..=4) flag[2];

thread p(i in 0..2) {
  loop {
    flag[i] = 1;
    fence store_load;
    do { f = flag[1 - i]; } while (f >= 3);
    flag[i] = 3;
    fence store_load;
    f = flag[1 - i];
    if (f == 1) {
      flag[i] = 2;
      do { f = flag[1 - i]; } while (f != 4);
    }
    flag[i] = 4;
    if (i == 1) {
      do { f = flag[0]; } while (f >= 2);
    }
    critical { skip; }
    if (i == 0) {
      do { f = flag[1]; } while (f == 2 || f == 3);
    }
    flag[i] = 0;
  }
}

property mutual_exclusion;
