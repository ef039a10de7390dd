// A counter that is protected by a test-and-set lock, for two threads, entered once. The release is
// fenced, the acquisition is not.
// Source: folklore; Anderson 1990, The performance of spin lock alternatives; The SPARC Architecture
// Manual 9, appendix J (spin locks), which has a `membar #LoadLoad | #LoadStore` after the loop.
// Expected: SC, TSO, PSO verified: the swap is in order with the load of the counter. RMO violated:
// the load may be performed before the lock is acquired. rmo-nospec verified: the load waits for the
// branch of the loop.

shared bool lock;
shared int(0..3) count;

thread p(i in 0..2) {
  do { taken = swap(lock, true); } while (taken);
  n = count;
  count = n + 1;
  fence store_store;
  lock = false;
}

final forall (count == 2);
