// A store outside a range that blocks, whose value depends only on a register.
// Source: written for this corpus.
// Expected: violated under every model: the thread waits forever.

shared int(0..2, block) x;

thread p {
  r = x;
  x = r + 2;
}
