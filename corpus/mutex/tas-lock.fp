// Test-and-set lock for two threads, entered repeatedly.
// Source: folklore; Anderson 1990, The performance of spin lock alternatives.
// Expected: verified everywhere. The swap acts on memory and waits for the thread's own pending
// release of the same location; only one thread reads false.

shared bool lock;

thread p(i in 0..2) {
  loop {
    do { taken = swap(lock, true); } while (taken);
    critical { skip; }
    lock = false;
  }
}

property mutual_exclusion;
