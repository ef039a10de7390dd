// A ring buffer for one producer and one consumer: one slot, two items. A thread that finds the ring
// full or empty tries again.
// All accesses are relaxed, and there are no fences.
// Source: Lamport 1983, Specifying concurrent program modules.
// Expected: SC, TSO verified. PSO, RMO, ARM violated: tail may be visible before the slot.

const SIZE = 1;
const ITEMS = 2;

shared int(0..3) slot[SIZE];
shared int(0..=ITEMS) head, tail;

thread producer {
  for (int k = 0; k < ITEMS; k++) {
    int h;
    do { h = head.load(relaxed); } while (k - h == SIZE);
    slot[k % SIZE] = k + 1;
    tail.store(k + 1, relaxed);
  }
}

thread consumer {
  for (int k = 0; k < ITEMS; k++) {
    int t;
    do { t = tail.load(relaxed); } while (t == k);
    int value = slot[k % SIZE];
    head.store(k + 1, relaxed);
    assert(value == k + 1);
  }
}
