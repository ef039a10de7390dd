// Michael and Scott's lock-free queue: enqueue e, dequeue d.
// Source: Michael and Scott 1996, Simple, fast, and practical non-blocking and blocking concurrent
// queue algorithms; with acquire loads and acquire-release updates. Nodes are never freed, so
// references need no counts.
// Expected: verified under every model.

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
    t = Tail.load(acquire);
    n = t.next.load(acquire);
    again = Tail.load(acquire);
    if (t == again) {
      if (n == null) {
        if (t.next.compare_exchange(n, node, acq_rel, acquire)) break;
      } else {
        Tail.compare_exchange(t, n, acq_rel, acquire);
      }
    }
  }
  Tail.compare_exchange(t, node, acq_rel, acquire);
}

operation int dequeue() as d {
  loop {
    h = Head.load(acquire);
    t = Tail.load(acquire);
    n = h.next.load(acquire);
    again = Head.load(acquire);
    if (h == again) {
      if (h == t) {
        if (n == null) return EMPTY;
        Tail.compare_exchange(t, n, acq_rel, acquire);
      } else {
        v = n.value;
        if (Head.compare_exchange(h, n, acq_rel, acquire)) break;
      }
    }
  }
  return v;
}

property sequentially_consistent operations;

client e|d;
client ed|ed;
client ee|dd;
