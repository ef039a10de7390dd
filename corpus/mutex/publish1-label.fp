// A thread is at its label only after its store is visible: a store, a full fence and a label.
// Source: written for invariants about a label and memory.
// Expected: verified everywhere. Without the fence, violated under every model with pending stores,
// although the program is robust.

shared int(0..2) x;

thread p {
  x = 1;
  fence;
  published: skip;
}

invariant !(p at published && x == 0);
