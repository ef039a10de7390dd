// An atomic block that writes one of two locations, by choice.
// Expected: verified under every model. The stateless engine must not take an order of `c`'s load and one choice
// for an order that was explored with the other choice: it missed the only run that shows the final state.

shared int x, y;

thread a {
  atomic {
    r0 = choose(0..=1);
    if (r0 == 0)
      x = 1;
    else
      y = 1;
  }
  r1 = x;
}

thread b {
  x = 2;
  y = 2;
}

thread c {
  r = y;
}

final exists (a.r0 == 1 && c.r == 0 && a.r1 == 2 && y == 2);
