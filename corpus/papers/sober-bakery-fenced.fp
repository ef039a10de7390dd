// Lamport's bakery for two threads with three critical sections each, with two full fences per
// thread.
// Source: [BM08] Fig. 4(a), bakery, see sober-bakery; the fences are ours.
// Expected: SC and TSO verified: choosing[i] is visible before the draw, number[i] before the spin
// loops. PSO and RMO violated: choosing[i] = false may be committed before number[i], see
// bakery2-tso in the folder mutex.
// Robust under TSO: every path from a store to a later load contains a fence, and each fence is
// needed. The second fence must not be before choosing[i] = false, as in bakery2: a thread could
// read the other's flag while its own store of false is pending, and the other thread could later
// still read true. That thread only waits longer, but no SC order explains it.

shared bool choosing[2];
shared int(0..=6) number[2];

thread p(i in 0..2) {
  for (int k = 0; k < 3; k++) {
    choosing[i] = true;
    fence;
    m = number[1 - i];
    mine = m + 1;
    number[i] = mine;
    choosing[i] = false;
    fence;
    do { c = choosing[1 - i]; } while (c);
    do {
      n = number[1 - i];
    } while (n != 0 && (n < mine || n == mine && 1 - i < i));
    critical { skip; }
    number[i] = 0;
  }
}

property mutual_exclusion;
