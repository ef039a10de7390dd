// Lamport's bakery for N threads, entered repeatedly, with tickets of any size.
// Source: Lamport 1974, A new solution of Dijkstra's concurrent programming problem. The fences are
// those of bench/programs/bakery.fp, where tickets are bounded.
// Expected: verified under SC, TSO and PSO, up to an overflow after 2^31 tickets. Without the fences
// (bakery0): SC verified, TSO and PSO violated.

const N = 3;

shared bool choosing[N];
shared int number[N];

thread p(i in 0..N) {
  loop {
    choosing[i] = true;
    fence; // repair
    m = 0;
    for (j = 0; j < N; j++) {
      if (j != i) {
        n = number[j];
        if (n > m) m = n;
      }
    }
    mine = m + 1;
    number[i] = mine;
    fence; // repair
    choosing[i] = false;
    for (j = 0; j < N; j++) {
      if (j != i) {
        do { c = choosing[j]; } while (c);
        do { n = number[j]; } while (n != 0 && (n < mine || n == mine && j < i));
      }
    }
    critical { skip; }
    number[i] = 0;
  }
}

property mutual_exclusion;
