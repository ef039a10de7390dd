// Michael and Scott's lock-free queue: enqueue e, dequeue d; without fences.
// Source: Michael and Scott 1996; the MSN rows of [KVY10] (Tables II and III) with their clients.
// Conservative memory allocation: nodes are never freed, so references need no counts. The rest is
// as published, including the second loads of Tail and Head.
// The pool is large enough for these clients; longer clients need a larger pool.
// Expected: SC and TSO verified. PSO violated: the node is linked before its value is visible, so 0
// is dequeued, or before its link is, so the pending null cuts off the nodes that others appended.
// RMO is also violated because dequeue's loads are reordered: it finds h != t and no next node. e|e
// is verified everywhere: nothing is returned, so no error is observable.
// Fences: under PSO one, store-store, in enqueue before the loop; under RMO also load-load in
// dequeue between Head and Tail (only ed|de needs it) and between Tail and h.next. Elsewhere an
// address or a branch orders the accesses.

record Node { int(0..=10) value; Node next; }
pool Node[11];
const EMPTY = -1;

shared Node Head;
shared Node Tail;

init {
  dummy = new Node;
  Head = dummy;
  Tail = dummy;
}

operation void enqueue(int v) as e {
  node = new Node;
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

property sequentially_consistent operations;

client e|d;
client e|e;
client ee|dd;
client ed|ed;
client ed|de;
client e|e|d;
