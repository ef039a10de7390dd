// Peterson's mutual exclusion algorithm for two threads, entered once, with two full fences per
// thread.
// Source: [KVY11] Fig. 2. Single entry, as in the experiments of [LW10] Table 2.
// Expected: verified everywhere, as peterson2.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  want[i] = true;
  fence;
  turn = 1 - i;
  fence;
  do {
    w = want[1 - i];
    t = turn;
  } while (w && t == 1 - i);
  critical { skip; }
  want[i] = false;
}

property mutual_exclusion;
