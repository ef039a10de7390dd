// Treiber's lock-free stack: push p, pop t; without fences.
// Source: Treiber 1986; the Treiber rows of [KVY10] (Tables II and III) with their clients. Nodes
// are never freed, as with a garbage collector, so a node's address is never reused and the
// compare-and-swap needs no tag. The value is read after the node is popped; no thread writes it
// after that.
// The pool is large enough for these clients; longer clients need a larger pool.
// Expected: SC and TSO verified: the compare-and-swap waits for the stores before it. PSO and RMO
// violated in every client: it waits only for stores to Top, so the node is published before its
// value (0 is popped) or, in pp|tt, before its link (the elements below are lost).
// Fences: one, store-store, in push before the compare-and-swap; it implements the paper's two
// constraints, value and link before publication. In pop, dependencies order the accesses.

record Node { int(0..=10) value; Node next; }
pool Node[10];
const EMPTY = -1;

shared Node Top;

operation void push(int v) as p {
  node = new Node;
  node.value = v;
  loop {
    t = Top;
    node.next = t;
    if (cas(Top, t, node)) break;
  }
}

operation int pop() as t {
  loop {
    t = Top;
    if (t == null) return EMPTY;
    n = t.next;
    if (cas(Top, t, n)) break;
  }
  v = t.value;
  return v;
}

property sequentially_consistent operations;

client p|t;
client pt|tp;
client pp|tt;
