// A bounded queue for several producers and consumers: an array of cells with sequence numbers,
// which wrap. The producer publishes its cell with a relaxed store.
// Source: Vyukov's bounded MPMC queue (1024cores.net), with one order weakened.
// Expected: SC and TSO verified: stores become visible in order. PSO and RMO violated: the sequence
// number may become visible before the data, and the consumer returns 0.

record Cell {
  u8 seq;
  int(0..4) data;
}

const SIZE = 2;
const DONE = 5;
const EMPTY = 6;
const BUSY = 7;

shared Cell ring[SIZE];
shared u8 tail = 254, head = 254;

init {
  for (int k = 0; k < SIZE; k++) ring[k].seq = 254 + k;
}

operation int enqueue(int v) as e, aborts BUSY {
  u8 pos = tail.load(relaxed);
  if (ring[pos % SIZE].seq.load(acquire) != pos) return BUSY;
  if (!tail.compare_exchange(pos, pos + 1, relaxed)) return BUSY;
  ring[pos % SIZE].data = v;
  ring[pos % SIZE].seq.store(pos + 1, relaxed);
  return DONE;
}

operation int dequeue() as d, aborts BUSY {
  u8 at = head.load(relaxed);
  i8 distance = ring[at % SIZE].seq.load(acquire) - (at + 1);
  if (distance < 0) return EMPTY;
  if (!head.compare_exchange(at, at + 1, relaxed)) return BUSY;
  r = ring[at % SIZE].data;
  ring[at % SIZE].seq.store(at + SIZE, release);
  return r;
}

client e|d;
client ee|d;
client e|dd;

property sequentially_consistent operations;
