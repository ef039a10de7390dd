// Treiber's lock-free stack: push p, pop t.
// Source: Treiber 1986; with the orders of C11. Nodes are never freed, so a node's address is never
// reused and the compare-and-swap needs no tag.
// Expected: verified under every model. The release in push publishes the node, and the acquire in
// pop comes before the accesses to it.

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
    if (Top.compare_exchange(t, node, release, relaxed)) break;
  }
}

operation int pop() as t {
  loop {
    t = Top.load(acquire);
    if (t == null) return EMPTY;
    n = t.next;
    if (Top.compare_exchange(t, n, acquire, relaxed)) break;
  }
  v = t.value;
  return v;
}

property sequentially_consistent operations;

client p|t;
client pt|tp;
client pp|tt;
