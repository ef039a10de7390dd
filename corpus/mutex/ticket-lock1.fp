// Ticket lock for two threads, entered repeatedly, with one store-store fence after the
// release.
// Source: Reed, Kanodia 1979; Mellor-Crummey, Scott 1991. Tickets count modulo the number of
// threads, which is enough under SC: no two threads ever hold the same ticket.
// Expected: all but RMO verified: the next cas waits for the release. rmo-nospec is verified, too.
// RMO violated: a load may pass the branch on the cas before it.

const N = 2;

shared int(0..N) next, serving;

thread p(i in 0..N) {
  loop {
    do { t = next; } while (!cas(next, t, (t + 1) % N));
    do { s = serving; } while (s != t);
    critical { skip; }
    serving = (t + 1) % N;
    fence store_store;
  }
}

property mutual_exclusion;
