// An array filled by a loop in `init`: more than 10,000 statements.
// Expected: verified under every model. A limit on blocks was once too low for this.

const N = 4000;
shared int(0..2) a[N];

init {
  for (int i = 0; i < N; i++) a[i] = 1;
}

thread p {
  r = a[N - 1];
  assert(r == 1);
}
