// A counter that is protected by an MCS queue lock, for two threads, entered once.
// All accesses are relaxed, and there are no fences.
// Source: Mellor-Crummey and Scott 1991, Algorithms for scalable synchronization on shared-memory
// multiprocessors.
// Expected: SC, TSO verified. PSO, RMO, ARM violated: the accesses to count may leave the critical
// section.

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
  Node before = tail.swap(me, relaxed);
  if (before != null) {
    bool locked;
    before.next.store(me, relaxed);
    do { locked = me.locked.load(relaxed); } while (locked);
  }
  critical { count = count + 1; }
  Node after = me.next.load(relaxed);
  if (after == null && !tail.compare_exchange(me, null, relaxed, relaxed)) {
    do { after = me.next.load(relaxed); } while (after == null);
  }
  if (after != null) after.locked.store(false, relaxed);
}

property mutual_exclusion;
final forall count == 2;
