// Lamport's bakery for two threads with three critical sections each, without fences.
// Source: [BM08] Fig. 4(a), bakery (2 threads, 3 crit-sec); our encoding of Lamport 1974, A new
// solution of Dijkstra's concurrent programming problem. The draw skips the thread's own number,
// which is 0 then. Tickets are not bounded: a ticket is 1 or one more than an earlier ticket, and
// there are six draws, so no ticket is above 6. If the threads alternate, 6 is drawn.
// Expected: SC verified; TSO, PSO, RMO violated: both threads draw ticket 1 and read the other's
// number as 0 while their own is still pending. Not robust under TSO for this reason and for the
// one in sober-bakery-fenced.

shared bool choosing[2];
shared int(0..=6) number[2];

thread p(i in 0..2) {
  for (int k = 0; k < 3; k++) {
    choosing[i] = true;
    m = number[1 - i];
    mine = m + 1;
    number[i] = mine;
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
