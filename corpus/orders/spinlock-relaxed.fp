// A counter that is protected by a test-and-set lock, for two threads, entered once.
// All accesses are relaxed, and there are no fences.
// Source: the usual spin lock: an exchange takes the lock, a store frees it.
// Expected: SC, TSO verified. PSO, RMO, ARM violated: the accesses to count may leave the critical
// section.

shared bool lock;
shared int(0..3) count;

thread p(i in 0..2) {
  bool taken;
  do { taken = lock.swap(true, relaxed); } while (taken);
  critical { count = count + 1; }
  lock.store(false, relaxed);
}

property mutual_exclusion;
final forall count == 2;
