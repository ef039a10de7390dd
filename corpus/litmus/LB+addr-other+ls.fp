// LB+addr-other+ls: load buffering with a store to an unknown address in between.
// Source: [KVY10], RLX: an access whose address is not known yet blocks only what may alias it.
// Expected: SC, TSO, PSO forbid; RMO allows: y is not in the array, so its store does not wait for
// the address.

shared int(0..2) x;
shared int y, a[2];

thread p {
  r1 = x;
  a[r1] = 1;
  y = 1;
}

thread q {
  r1 = y;
  fence load_store;
  x = 1;
}

final exists (p.r1 == 1 && q.r1 == 1);
