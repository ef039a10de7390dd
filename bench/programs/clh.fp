// CLH queue lock for N threads, entered repeatedly, with one full fence per thread.
// Source: Craig 1993 and Magnusson, Landin, Hagersten 1994. Nodes are elements of an array; a thread
// reuses the node of its predecessor.
// Expected: verified under SC, TSO and PSO: the node is marked before it enters the queue.
// Without the fence: SC and TSO verified, because under TSO the swap waits for all pending stores.
// PSO violated: the swap waits only for stores to tail.

const N = 4;

// locked[0] to locked[N - 1] are the threads' first nodes; the queue holds the free node N.
shared bool locked[N + 1];
shared int(0..=N) tail = N;

thread p(i in 0..N) {
  int(0..=N) mine = i;
  loop {
    locked[mine] = true;
    fence; // repair
    pred = swap(tail, mine);
    do { w = locked[pred]; } while (w);
    critical { skip; }
    locked[mine] = false;
    mine = pred;
  }
}

property mutual_exclusion;
