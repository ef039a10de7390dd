// One thread that stores forever, in an order that the invariant needs: y is 1 only while x is 1.
// Source: our own, after [LW10] Fig. 2.
// An abstraction keeps the order of at most k pending stores, and there can always be more. An
// exact language, ((x,1)(y,1)(y,0)(x,0))* and its substrings, keeps the whole order.
// Expected: verified under SC and TSO, where the buffer has no bound; violated under PSO and RMO,
// where the store to y overtakes the one to x.

shared int x, y;

thread p {
  loop {
    x = 1;
    y = 1;
    y = 0;
    x = 0;
  }
}

invariant y == 0 || x == 1;
