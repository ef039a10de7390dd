// Test-and-test-and-set lock for two threads, entered repeatedly.
// Source: Rudolph, Segall 1984; Anderson 1990.
// Expected: verified everywhere, as tas-lock. The first load may read the thread's own pending
// release; the swap decides.

shared bool lock;

thread p(i in 0..2) {
  loop {
    do {
      do { taken = lock; } while (taken);
      taken = swap(lock, true);
    } while (taken);
    critical { skip; }
    lock = false;
  }
}

property mutual_exclusion;
