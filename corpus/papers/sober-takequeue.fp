// A work-stealing queue: the owner pushes and takes at the tail and locks only when a thief may
// access the same item; a thief always locks and steals at the head. Six operations, without
// fences.
// Source: [BM08] Fig. 4(a), takequeue (2 threads, 6 ops), a low-lock structure of a library that is
// not shown; our encoding of a similar published queue: Duffy 2008, Building a custom thread pool,
// part 2: a work stealing queue (.NET), with plain stores instead of interlocked exchanges of tail
// and head. It follows the THE protocol of Frigo, Leiserson and Randall 1998. The lock uses
// interlocked operations, as in sober-fig4b.
// Simplified: the array never grows (asserted), and a thief waits for the lock without time limit.
// Each item, 1 or 2, is returned exactly once: the four results add up to 3, and their bitwise or
// is 3. No item is left: two takes follow the last push, and a take fails only when the queue is
// empty.
// Expected: SC verified; TSO, PSO, RMO violated: the owner reads head while its store to tail is
// pending, or the thief reads tail while its store to head is, and both return the same item.
// Not robust under TSO for this reason and for the one in sober-takequeue-fenced.

const NONE = 0;
const MASK = 3;

shared int(0..=2) slot[4];
shared int(0..=2) head;
shared int(0..=2) tail;
shared bool lock;

proc void push(int item) {
  t = tail;
  h = head;
  assert(t < h + MASK);                                 // otherwise the array would have to grow
  slot[t & MASK] = item;
  tail = t + 1;
}

proc int take() {
  t = tail;
  t = t - 1;
  tail = t;
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
