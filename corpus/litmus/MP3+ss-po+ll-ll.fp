// MP3+ss-po+ll-ll: message passing with two stores after the store-store fence.
// Source: our own, for the epochs of PSO.
// Expected: SC, TSO forbid; PSO, RMO allow: the fence orders x before y and z, but it does not
// order y and z with each other.

shared int x, y, z;

thread p {
  x = 1;
  fence store_store;
  y = 1;
  z = 1;
}

thread q {
  r1 = z;
  fence load_load;
  r2 = y;
  fence load_load;
  r3 = x;
}

final exists (q.r1 == 1 && q.r2 == 0 && q.r3 == 1);
