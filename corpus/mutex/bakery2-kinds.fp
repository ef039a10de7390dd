// Lamport's bakery for two threads, entered repeatedly, with the weakest fences at the places of
// bakery2's full fences.
// Source: Lamport 1974, A new solution of Dijkstra's concurrent programming problem. Tickets are
// bounded at 2 as in [KVY11] section 6.1: a thread that would draw a 3 stops permanently
// (`assume`), so every run is a run of the unbounded algorithm.
// Expected: RMO violated as bakery2. All others verified, also rmo-nospec: the first fence orders choosing[i] with the load of the other's
// number, the second orders the store to number[i] with choosing[i] = false and with the loads of
// the spin loops.

shared bool choosing[2];
shared int(0..=2) number[2];

thread p(i in 0..2) {
  loop {
    choosing[i] = true;
    fence store_load;
    m = number[1 - i];
    assume(m < 2);
    mine = m + 1;
    number[i] = mine;
    fence store_store, store_load;
    choosing[i] = false;
    do { c = choosing[1 - i]; } while (c);
    do {
      n = number[1 - i];
    } while (n != 0 && (n < mine || n == mine && 1 - i < i));
    critical { skip; }
    number[i] = 0;
  }
}

property mutual_exclusion;
