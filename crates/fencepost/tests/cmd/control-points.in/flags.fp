shared bool a, b;

thread p {
  a = true;
  if (!b) {
    A: skip;
  }
}

thread q {
  b = true;
  if (!a) {
    B: skip;
  }
}

invariant !(p at A && q at B);
