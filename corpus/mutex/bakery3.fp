// Lamport's bakery for three threads, entered repeatedly, with two full fences per thread.
// Source: Lamport 1974. Tickets are bounded at 3 as in bakery2: a thread that would draw a 4 stops
// permanently.
// Expected: as bakery2. Meant as a benchmark.

const N = 3;
const MAX = 3;

shared bool choosing[N];
shared int(0..=MAX) number[N];

thread p(i in 0..N) {
  loop {
    choosing[i] = true;
    fence;
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
    fence;
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
