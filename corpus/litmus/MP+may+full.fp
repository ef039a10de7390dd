// MP+may+full: message passing where the reader's second load follows a store whose address comes
// from its first load.
// Source: [KVY10], RLX: an access whose address is not known yet blocks what may alias it.
// Expected: forbidden everywhere: the second load may read the element that is stored to, so it
// waits until the address is known.

shared int a[2];
shared int(0..2) y;

thread p {
  r1 = y;
  a[r1] = 2;
  r2 = a[0];
}

thread q {
  a[0] = 1;
  fence;
  y = 1;
}

final exists (p.r1 == 1 && p.r2 == 0);
