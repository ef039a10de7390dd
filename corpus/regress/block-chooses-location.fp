// An atomic block that writes one of two locations, by choice.
// Expected: verified under every model. In the stateless engine each choice must count as accessing
// the locations of all choices. Otherwise the engine misses the only run with this final state.

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
