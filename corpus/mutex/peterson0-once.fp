// Peterson's mutual exclusion algorithm for two threads, entered once, without fences.
// Source: Peterson 1981, Myths about the mutual exclusion problem; as loads and stores in [KVY11]
// Fig. 1. Single entry, as in the experiments of [LW10] Table 2.
// Expected: SC verified; TSO, PSO, RMO violated as in peterson0. Every store buffer holds at most
// three stores, so a plain search ends.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  want[i] = true;
  turn = 1 - i;
  do {
    w = want[1 - i];
    t = turn;
  } while (w && t == 1 - i);
  critical { skip; }
  want[i] = false;
}

property mutual_exclusion;
