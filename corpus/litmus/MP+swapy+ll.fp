// MP+swapy+ll: message passing where the second store is a swap, with a load-load fence in the
// reader.
// Source: [KVY11] section 3, the rule for CAS.
// Expected: SC, TSO forbid; PSO, RMO allow: under TSO the swap waits until the queue is empty;
// under PSO it waits only for the queue of y, so x may still be pending.

shared int x, y;

thread p {
  x = 1;
  swap(y, 1);
}

thread q {
  r1 = y;
  fence load_load;
  r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
