// The work-stealing queue of sober-takequeue with a full fence in each operation.
// Source: [BM08] Fig. 4(a), takequeue, see sober-takequeue. The fences in take and steal replace
// the interlocked exchanges of Duffy 2008; the one in push is ours.
// Expected: SC and TSO verified: the new tail is visible before the owner reads head, and the new
// head before the thief reads tail. So one of them sees the other, and the lock decides. PSO and
// RMO violated: in push, tail overtakes the item, and the thief finds an empty slot.
// Robust under TSO: with interlocked operations at both ends of the lock, every path from a store
// to a later load of a location that the other thread writes contains a fence. The one in push is
// only for robustness: without it the second push reads head while the first store to tail is
// pending; a thief that then increments head can still read the old tail and find nothing.

const NONE = 0;
const MASK = 3;

shared int(0..=2) slot[4];
shared int(0..=2) head;
shared int(0..=2) tail;
shared bool lock;

proc void push(int item) {
  t = tail;
  fence;
  h = head;
  assert(t < h + MASK);                                 // otherwise the array would have to grow
  slot[t & MASK] = item;
  tail = t + 1;
}

proc int take() {
  t = tail;
  t = t - 1;
  tail = t;
  fence;
  h = head;
  if (h <= t) {                                         // no conflict with a thief
    item = slot[t & MASK];
    return item;
  }
  atomic { assume(!lock); lock = true; }                // lock (foreign) {
  h = head;
  if (h <= t) {
    item = slot[t & MASK];
  } else {
    item = NONE;
    tail = t + 1;
  }
  atomic { lock = false; }                              // }
  return item;
}

proc int steal() {
  atomic { assume(!lock); lock = true; }                // lock (foreign) {
  h = head;
  head = h + 1;
  fence;
  t = tail;
  if (h < t) {
    item = slot[h & MASK];
  } else {
    item = NONE;
    head = h;
  }
  atomic { lock = false; }                              // }
  return item;
}

thread owner {
  push(1);
  push(2);
  a = take();
  b = take();
}

thread thief {
  c = steal();
  d = steal();
}

final forall owner.a + owner.b + thief.c + thief.d == 3;
final forall (owner.a | owner.b | thief.c | thief.d) == 3;
