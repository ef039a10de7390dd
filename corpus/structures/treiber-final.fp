// Treiber's stack with a check of the final stack: push p, pop t; without fences.
// Source: as treiber, for the Treiber rows of [KVY10] that need more constraints than our results
// show. Two changes: the link of a new node is arbitrary (null or the node itself), as in memory that
// is reused, and operations after the threads pop what is left.
// Nodes are allocated in `init`, because `new` sets fields to their initial values. There are enough
// for two pushes.
// Expected: SC and TSO verified. PSO and RMO violated in every client: a node is published before
// its value (0 is popped) or its link (a pop installs the arbitrary link).
// Fences: as treiber.

record Node { int(0..=10) value; Node next; }
pool Node[2];
const EMPTY = -1;

shared Node Top;
shared Node fresh[3];                   // push(v) uses node fresh[v]

init {
  for (int v = 1; v < 3; v++) {
    node = new Node;
    if (choose(0..=1) == 1) node.next = node;
    fresh[v] = node;
  }
}

operation void push(int v) as p {
  node = fresh[v];
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

client (p|t)t;
client (pt|tp)tt;
