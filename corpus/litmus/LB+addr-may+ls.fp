// LB+addr-may+ls: load buffering with a store to an unknown address in between that may alias the
// last store.
// Source: [KVY10], RLX: an access whose address is not known yet blocks what may alias it.
// Expected: forbidden everywhere: the last store waits until the address of the previous store is
// known.

shared int(0..2) x;
shared int a[2];

thread p {
  r1 = x;
  a[r1] = 1;
  a[0] = 1;
}

thread q {
  r1 = a[0];
  fence load_store;
  x = 1;
}

final exists (p.r1 == 1 && q.r1 == 1);
