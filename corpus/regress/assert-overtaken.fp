// A failing assertion and a later store without a control dependency.
// Expected: violated under every model. Under RMO the store may become visible before the assertion
// is evaluated: an assertion must not narrow the computed range of `r`.

shared int x = 1, y;

thread p {
  r = x;
  assert(r == 0);
  y = r;
}

thread q {
  s = y;
}
