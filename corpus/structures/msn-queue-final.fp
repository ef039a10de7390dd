// Michael and Scott's queue with a check of the final list: enqueue e, dequeue d; without fences.
// Source: as msn-queue, for the MSN rows of [KVY10] that need more constraints than our results
// show. Two changes: the link of a new node is arbitrary (null or the first node), as in memory that
// is reused, and operations after the threads dequeue what is left.
// Nodes are allocated in `init`, because `new` sets fields to their initial values. There are enough
// for two enqueues.
// Expected: SC and TSO verified. PSO and RMO violated in every client: a node is in the list before
// its link is null. In (e|e)dd only the dequeues at the end show it.
// Fences: as msn-queue.

record Node { int(0..=10) value; Node next; }
pool Node[4];
const EMPTY = -1;

shared Node Head;
shared Node Tail;
shared Node fresh[3];                   // enqueue(v) uses node fresh[v]

init {
  dummy = new Node;
  Head = dummy;
  Tail = dummy;
  for (int v = 1; v < 3; v++) {
    node = new Node;
    if (choose(0..=1) == 1) node.next = dummy;
    fresh[v] = node;
  }
}

operation void enqueue(int v) as e {
  node = fresh[v];
  node.value = v;
  node.next = null;
  loop {
    t = Tail;
    n = t.next;
    again = Tail;
    if (t == again) {
      if (n == null) {
        if (cas(t.next, n, node)) break;
      } else {
        cas(Tail, t, n);
      }
    }
  }
  cas(Tail, t, node);
}

operation int dequeue() as d {
  loop {
    h = Head;
    t = Tail;
    n = h.next;
    again = Head;
    if (h == again) {
      if (h == t) {
        if (n == null) return EMPTY;
        cas(Tail, t, n);
      } else {
        v = n.value;
        if (cas(Head, h, n)) break;
      }
    }
  }
  return v;
}

// Tail is the last node of the list.
finally {
  n = Head;
  while (n != null) {
    last = n;
    n = n.next;
  }
  assert(last == Tail);
}

property sequentially_consistent operations;

client (e|e)dd;
client (ee|dd)dd;
client (e|e|d)dd;
