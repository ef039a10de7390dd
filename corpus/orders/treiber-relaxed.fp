// Treiber's lock-free stack: push p, pop t.
// All accesses are relaxed, and there are no fences.
// Source: Treiber 1986. Nodes are never freed, so a node's address is never
// reused and the compare-and-swap needs no tag.
// Expected: SC, TSO verified. PSO, RMO, ARM violated: the node is published before its value.

record Node { int(0..=4) value; Node next; }
pool Node[4];
const EMPTY = -1;

shared Node Top;

operation void push(int v) as p {
  node = new Node;
  node.value = v;
  loop {
    t = Top.load(relaxed);
    node.next = t;
    if (Top.compare_exchange(t, node, relaxed, relaxed)) break;
  }
}

operation int pop() as t {
  loop {
    t = Top.load(relaxed);
    if (t == null) return EMPTY;
    n = t.next;
    if (Top.compare_exchange(t, n, relaxed, relaxed)) break;
  }
  v = t.value;
  return v;
}

property sequentially_consistent operations;

client p|t;
client pp|tt;
