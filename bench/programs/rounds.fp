// Peterson's algorithm for two threads, entered N times, with two full fences per round.
// Source: Peterson 1981. The number of executions grows with the number of rounds: a benchmark for
// stateless model checking.
// Expected: verified under SC, TSO and PSO: want[i] is visible before turn, and both before the
// other thread's are read.
// Without the fences: SC verified, TSO and PSO violated.

const N = 3;

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  for (n = 0; n < N; n++) {
    want[i] = true;
    fence; // repair
    turn = 1 - i;
    fence; // repair
    do {
      w = want[1 - i];
      t = turn;
    } while (w && t == 1 - i);
    critical { skip; }
    want[i] = false;
  }
}

property mutual_exclusion;
