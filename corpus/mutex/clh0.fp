// CLH queue lock for two threads, entered again and again, without fences.
// Source: Craig 1993 and Magnusson, Landin, Hagersten 1994; a benchmark of [KVY11]. Nodes are
// elements of an array, a thread goes on with the node of its predecessor.
// Expected: SC and TSO verified: the swap empties the queue, so locked[mine] is visible before the
// node is. PSO and RMO violated: the swap drains the queue of tail only; the successor may read
// locked[pred] while true is still pending.

// locked[0] and locked[1] are the threads' first nodes; the free node 2 is in the queue at first.
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
