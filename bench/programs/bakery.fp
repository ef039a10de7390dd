// Lamport's bakery for N threads, entered repeatedly, with two full fences per thread.
// Source: Lamport 1974, A new solution of Dijkstra's concurrent programming problem. Tickets are
// bounded at N: a thread that would draw a larger one stops permanently (`assume`), so every run is
// a run of the unbounded algorithm.
// Expected: verified under SC, TSO and PSO: choosing[i] is visible before the others' numbers are
// read, number[i] before choosing[i] = false and before the loads that decide about entry.
// Without the fences: SC verified, TSO and PSO violated.

const N = 4;
const MAX = N;

shared bool choosing[N];
shared int(0..=MAX) number[N];

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
    assume(m < MAX);
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
