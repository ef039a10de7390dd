// CLH queue lock for two threads, entered repeatedly, with one full fence per thread, before the
// swap.
// Source: Craig 1993 and Magnusson, Landin, Hagersten 1994; a benchmark of [KVY11]. Nodes are
// elements of an array; a thread reuses the node of its predecessor.
// Expected: verified everywhere: the node is marked before it enters the queue; the load of
// locked[pred] needs the result of the swap, and the release follows a branch on that load.

// locked[0] and locked[1] are the threads' first nodes; the queue initially holds the free node 2.
shared bool locked[3];
shared int(0..3) tail = 2;

thread p(i in 0..2) {
  int(0..3) mine = i;
  loop {
    locked[mine] = true;
    fence;
    pred = swap(tail, mine);
    do { w = locked[pred]; } while (w);
    critical { skip; }
    locked[mine] = false;
    mine = pred;
  }
}

property mutual_exclusion;
