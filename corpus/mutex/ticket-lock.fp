// Ticket lock for two threads, entered repeatedly, without fences.
// Source: Reed, Kanodia 1979; Mellor-Crummey, Scott 1991. Tickets count modulo the number of
// threads, which is enough under SC: no two threads ever hold the same ticket.
// Expected: SC and TSO verified: the cas waits for all pending stores, so the last release is
// visible before the next ticket is drawn. PSO and RMO violated: the cas waits only for stores to
// next; a thread may enter twice by reading its own pending stores to serving, and the other thread
// draws a ticket that memory still serves. (Tickets that never repeat would avoid this.)

const N = 2;

shared int(0..N) next, serving;

thread p(i in 0..N) {
  loop {
    do { t = next; } while (!cas(next, t, (t + 1) % N));
    do { s = serving; } while (s != t);
    critical { skip; }
    serving = (t + 1) % N;
  }
}

property mutual_exclusion;
