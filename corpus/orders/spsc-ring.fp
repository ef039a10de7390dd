// A ring buffer for one producer and one consumer: one slot, two items. A thread that finds the ring
// full or empty tries again.
// Source: Lamport 1983, Specifying concurrent program modules; with the orders of C11.
// Expected: verified under every model.

const SIZE = 1;
const ITEMS = 2;

shared int(0..3) slot[SIZE];
shared int(0..=ITEMS) head, tail;

thread producer {
  for (int k = 0; k < ITEMS; k++) {
    int h;
    do { h = head.load(acquire); } while (k - h == SIZE);
    slot[k % SIZE] = k + 1;
    tail.store(k + 1, release);
  }
}

thread consumer {
  for (int k = 0; k < ITEMS; k++) {
    int t;
    do { t = tail.load(acquire); } while (t == k);
    int value = slot[k % SIZE];
    head.store(k + 1, release);
    assert(value == k + 1);
  }
}
