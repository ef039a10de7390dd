// Michael and Scott's lock-free queue: enqueue e, dequeue d.
// All accesses are relaxed, and there are no fences.
// Source: Michael and Scott 1996, Simple, fast, and practical non-blocking and blocking concurrent
// queue algorithms. Nodes are never freed, so
// references need no counts.
// Expected: SC, TSO verified. PSO, RMO, ARM violated: the node is published before its value.

record Node { int(0..=4) value; Node next; }
pool Node[5];
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
  loop {
    t = Tail.load(relaxed);
    n = t.next.load(relaxed);
    again = Tail.load(relaxed);
    if (t == again) {
      if (n == null) {
        if (t.next.compare_exchange(n, node, relaxed, relaxed)) break;
      } else {
        Tail.compare_exchange(t, n, relaxed, relaxed);
      }
    }
  }
  Tail.compare_exchange(t, node, relaxed, relaxed);
}

operation int dequeue() as d {
  loop {
    h = Head.load(relaxed);
    t = Tail.load(relaxed);
    n = h.next.load(relaxed);
    again = Head.load(relaxed);
    if (h == again) {
      if (h == t) {
        if (n == null) return EMPTY;
        Tail.compare_exchange(t, n, relaxed, relaxed);
      } else {
        v = n.value;
        if (Head.compare_exchange(h, n, relaxed, relaxed)) break;
      }
    }
  }
  return v;
}

property sequentially_consistent operations;

client e|d;
