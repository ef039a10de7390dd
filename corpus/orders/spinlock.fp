// A counter that is protected by a test-and-set lock, for two threads, entered once.
// Source: the usual spin lock: an acquire exchange takes the lock, a release store frees it.
// Expected: verified under every model.

shared bool lock;
shared int(0..3) count;

thread p(i in 0..2) {
  bool taken;
  do { taken = lock.swap(true, acquire); } while (taken);
  critical { count = count + 1; }
  lock.store(false, release);
}

property mutual_exclusion;
final forall count == 2;
