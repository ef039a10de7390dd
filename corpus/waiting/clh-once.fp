// CLH queue lock for two threads with one critical section each, without fences. The wait is a spin
// loop.
// Source: Craig 1993; Magnusson, Landin, Hagersten 1994; see clh0 in the folder mutex.
// Expected: SC and TSO verified: the swap waits for all pending stores. PSO and RMO violated:
// locked = true may become visible after the swap, so that the successor does not wait.

record Node {
  bool locked;
}

pool Node[3];

shared Node tail;

init {
  tail = new Node;
}

thread p(i in 0..2) {
  Node me = new Node;
  me.locked = true;
  Node before = swap(tail, me);
  while (before.locked) skip;
  critical { skip; }
  me.locked = false;
}

property mutual_exclusion;
