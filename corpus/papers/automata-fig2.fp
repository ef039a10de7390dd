// Two threads that store to a location of their own forever: x = 1, x = 0, x = 1, ...
// Source: [LW10] Fig. 2 (Example 1, sleep sets). The paper states no property; ours is that each
// location holds 0 or 1.
// Expected: verified everywhere. There is no load and no fence, so the buffers have no bound: to
// verify this, an engine must represent infinitely many contents, such as (x,1)((x,0)(x,1))*.

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
