// Lamport's bakery for two threads, entered repeatedly, with tickets of any size, without fences.
// Source: Lamport 1974, A new solution of Dijkstra's concurrent programming problem.
// Expected: SC verified, up to an overflow after 2^31 tickets. TSO and PSO violated: the other
// thread's flag and number are read before the own ones are visible.

const N = 2;

shared bool choosing[N];
shared int number[N];

thread p(i in 0..N) {
  loop {
    choosing[i] = true;
    m = 0;
    for (j = 0; j < N; j++) {
      if (j != i) {
        n = number[j];
        if (n > m) m = n;
      }
    }
    mine = m + 1;
    number[i] = mine;
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
