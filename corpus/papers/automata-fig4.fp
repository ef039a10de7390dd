// Two threads with four control states each, where the stores of p unlock q, which unlocks p.
// Source: [LW10] Fig. 4. The edges are read as 1 -> 2 -> 3 -> 4 -> 1; only so are both blocked when
// both are in state 4, as the paper says of SC.
// A load that tests a value, ld(p, m, d), is a loop that waits for it: the transition is possible
// as soon as the value is there. (`assume` would give up on the first other value.)
// The property: never both in state 4, where under SC neither can go on (a deadlock; with waiting
// loops it cannot be stated as one). The critical block marks state 4: after the store of 0, before
// the load. Under TSO the program may also go on from there, when stores are still pending.
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
