// Lamport's bakery for two threads, entered repeatedly, with two full fences per thread, correct
// for PSO.
// Source: Lamport 1974, A new solution of Dijkstra's concurrent programming problem. Tickets are
// bounded at 2 as in [KVY11] section 6.1: a thread that would draw a 3 stops permanently
// (`assume`), so every run is a run of the unbounded algorithm. [KVY11] reports two fences without
// showing where; this is our reading.
// Expected: RMO violated: number[j] may be loaded before the loop on choosing[j] ends. All others
// verified, also rmo-nospec. choosing[i] is visible before the other's number is read, and
// number[i] before choosing[i] is reset and before the spin loops. A pending choosing[i] = false
// only makes the other thread wait longer.

shared bool choosing[2];
shared int(0..=2) number[2];

thread p(i in 0..2) {
  loop {
    choosing[i] = true;
    fence;
    m = number[1 - i];
    assume(m < 2);
    mine = m + 1;
    number[i] = mine;
    fence;
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
