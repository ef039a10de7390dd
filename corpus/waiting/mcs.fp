// MCS queue lock for two threads with two critical sections each, without fences. All waits are
// spin loops. Each thread reuses its record.
// Source: Mellor-Crummey, Scott 1991.
// Expected: SC and TSO verified: the swap and the cas wait for all pending stores. PSO and RMO
// violated: the swap waits only for stores to tail. next = null or locked = true may become visible
// after the other thread has linked itself or passed the lock, and overwrites its store. Then a
// thread waits forever.

record Node {
  Node next;
  bool locked;
}

pool Node[2];

shared Node tail;

thread p(i in 0..2) {
  Node me = new Node;
  for (int k = 0; k < 2; k++) {
    me.next = null;
    me.locked = true;
    Node before = swap(tail, me);
    if (before != null) {
      before.next = me;
      while (me.locked) skip;
    }
    critical { skip; }
    if (me.next != null || !cas(tail, me, null)) {
      while (me.next == null) skip;
      Node after = me.next;
      after.locked = false;
    }
  }
}

property mutual_exclusion;
