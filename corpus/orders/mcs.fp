// A counter that is protected by an MCS queue lock, for two threads, entered once.
// Source: Mellor-Crummey and Scott 1991, Algorithms for scalable synchronization on shared-memory
// multiprocessors; with the orders of C11.
// Expected: verified under every model.

record Node {
  Node next;
  bool locked;
}

pool Node[2];

shared Node tail;
shared int(0..3) count;

thread p(i in 0..2) {
  Node me = new Node;
  me.next.store(null, relaxed);
  me.locked.store(true, relaxed);
  Node before = tail.swap(me, acq_rel);
  if (before != null) {
    bool locked;
    before.next.store(me, release);
    do { locked = me.locked.load(acquire); } while (locked);
  }
  critical { count = count + 1; }
  Node after = me.next.load(acquire);
  if (after == null && !tail.compare_exchange(me, null, release, relaxed)) {
    do { after = me.next.load(acquire); } while (after == null);
  }
  if (after != null) after.locked.store(false, release);
}

property mutual_exclusion;
final forall count == 2;
