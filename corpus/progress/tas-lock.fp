// A test-and-set lock for two threads, entered repeatedly.
// Source: the usual lock; it is not starvation-free.
// Expected: violated everywhere where progress is checked: one thread may find the lock taken again
// and again while the other enters. The lock is released with an update, so it needs no fence.

shared bool lock;

thread p(i in 0..2) {
  loop {
    while (swap(lock, true)) skip;
    critical { skip; }
    swap(lock, false);
  }
}

property mutual_exclusion;
property progress;
