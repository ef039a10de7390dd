// Peterson's mutual exclusion algorithm for two threads, entered once, with one full fence per
// thread, enough for TSO.
// Source: Peterson 1981, Myths about the mutual exclusion problem; as loads and stores in [KVY11]
// Fig. 1. Single entry, as in the experiments of [LW10] Table 2.
// Expected: SC and TSO verified; PSO and RMO violated: turn may be committed before want[i], see
// peterson1-tso; one entry is enough for that.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  want[i] = true;
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
