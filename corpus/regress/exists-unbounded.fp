// No final state exists at all, and a buffer grows without bound.
// Expected: violated under every model; an engine that bounds buffers cannot decide this and must
// not report "no violation up to the bound" as an answer to `exists`.

shared int x, y;

thread a {
  x = 1;
}

thread b {
  loop { y = 1; }
}

thread c {
  r = y;
}

final exists x == 7;
