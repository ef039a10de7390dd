// Two threads with four control states each, where stores of p enable q and stores of q enable p.
// Source: [LW10] Fig. 4. The edges are read as 1 -> 2 -> 3 -> 4 -> 1; only then are both blocked
// when both are in state 4, as the paper states for SC.
// A load that tests a value, ld(p, m, d), is a spin loop: the transition is possible as soon as
// memory holds the value. (`assume` would stop the thread at the first other value.)
// The property: the threads are never both in state 4. Under SC neither can leave it (a deadlock;
// with spin loops it cannot be stated as one). The critical block marks state 4: after the store of
// 0, before the load. Under TSO pending stores may let the program continue from there.
// Expected: violated everywhere, also under SC. The buffer of p has no bound.

shared int x = 1, y = 1;

thread p {
  loop {
    x = 1;                                // 1 -> 2
    do { r1 = y; } while (r1 != 1);       // 2 -> 3
    x = 0;                                // 3 -> 4
    critical { skip; }                    // 4
    do { r1 = y; } while (r1 != 1);       // 4 -> 1
  }
}

thread q {
  loop {
    y = 1;                                // 1 -> 2
    do { r1 = x; } while (r1 != 0);       // 2 -> 3
    y = 0;                                // 3 -> 4
    critical { skip; }                    // 4
    do { r1 = x; } while (r1 != 1);       // 4 -> 1
  }
}

property mutual_exclusion;
