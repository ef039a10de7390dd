// CLH queue lock for two threads, entered repeatedly, without fences.
// Source: Craig 1993 and Magnusson, Landin, Hagersten 1994; a benchmark of [KVY11]. Nodes are
// elements of an array; a thread reuses the node of its predecessor.
// Expected: SC and TSO verified: the swap waits for all pending stores, so locked[mine] is visible
// before the node is. PSO and RMO violated: the swap waits only for stores to tail; the successor
// may read locked[pred] while true is still pending.

// locked[0] and locked[1] are the threads' first nodes; the queue initially holds the free node 2.
shared bool locked[3];
shared int(0..3) tail = 2;

thread p(i in 0..2) {
  int(0..3) mine = i;
  loop {
    locked[mine] = true;
    pred = swap(tail, mine);
    do { w = locked[pred]; } while (w);
    critical { skip; }
    locked[mine] = false;
    mine = pred;
  }
}

property mutual_exclusion;
