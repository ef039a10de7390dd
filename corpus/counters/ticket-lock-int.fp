// Ticket lock for three threads, entered repeatedly, with tickets of type `int`.
// Source: Reed, Kanodia 1979; Mellor-Crummey, Scott 1991.
// Expected: verified under SC, TSO and PSO, up to an overflow after 2^31 tickets.

shared int next, owner;

thread p(i in 0..3) {
  loop {
    my = fetch_add(next, 1);
    while (owner != my) skip;
    critical { skip; }
    fence store_store; // repair
    owner = my + 1;
  }
}

property mutual_exclusion;
