// One thread that stores for ever, in an order that an invariant needs: y is 1 only while x is.
// Ours, after [LW10] Fig. 2.
// An abstraction keeps the order of as many pending stores as it is told to, and there can always be
// more; exact languages, ((x,1)(y,1)(y,0)(x,0))* and what is left of it, keep it all.
// Expected: verified under SC and TSO, where the buffer has no bound; violated under PSO and RMO, where the
// store to y overtakes the one to x.

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
