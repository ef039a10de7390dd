// MP+ss+addr: message passing through an index: the reader's second load needs the first for its
// address.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER (MP with an address dependency).
// Expected: forbidden everywhere: the stores are in order, and a load waits for its address.

shared int slot[2];
shared int(0..2) index;

thread p {
  slot[1] = 1;
  fence store_store;
  index = 1;
}

thread q {
  r1 = index;
  r2 = slot[r1];
}

final exists (q.r1 == 1 && q.r2 == 0);
