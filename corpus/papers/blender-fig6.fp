// Two stores to one location and a reader that must not see them in the wrong order.
// Source: [KVY11] Fig. 6, with its specification r1 <= r2 in a final state.
// Expected: verified everywhere, without a fence: one location has one order. An abstraction that
// keeps no order among pending stores (k = 0) reports a spurious error here.

shared int x;

thread p {
  x = 1;
  x = 2;
}

thread q {
  r1 = x;
  r2 = x;
}

final forall (q.r1 <= q.r2);
