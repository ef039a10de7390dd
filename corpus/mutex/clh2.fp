// CLH queue lock for two threads, entered repeatedly, with two full fences per thread, before the
// swap and after the release.
// Source: Craig 1993 and Magnusson, Landin, Hagersten 1994; a benchmark of [KVY11]. Nodes are
// elements of an array; a thread reuses the node of its predecessor. [KVY11] reports two fences
// without showing where; this is our reading, and the second fence is not needed for mutual
// exclusion.
// Expected: verified everywhere, see clh1.

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
    fence;
    mine = pred;
  }
}

property mutual_exclusion;
