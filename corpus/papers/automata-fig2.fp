// Two threads that store to a location of their own for ever: x = 1, x = 0, x = 1, ...
// Source: [LW10] Fig. 2 (Example 1, sleep sets). The paper states no property; ours is that memory
// holds nothing that was never stored.
// Expected: verified everywhere. There is no load and no fence, so that the buffers have no bound:
// an engine must represent infinitely many contents, (x,1)((x,0)(x,1))* and the like, to say so.

shared int x, y;

thread p {
  loop {
    x = 1;
    x = 0;
  }
}

thread q {
  loop {
    y = 1;
    y = 0;
  }
}

invariant (x == 0 || x == 1) && (y == 0 || y == 1);
