// MP+ss+spin-ll: message passing where the reader waits for the flag and then executes a load-load
// fence.
// Source: MP+ss+spin with the fence that SPARC RMO needs; The SPARC Architecture Manual 9,
// appendix D: a branch does not order the loads after it.
// Expected: forbidden everywhere: the fence keeps the load of x after the last load of y.

shared int x, y;

thread p {
  x = 1;
  fence store_store;
  y = 1;
}

thread q {
  do { r1 = y; } while (r1 == 0);
  fence load_load;
  r2 = x;
}

final exists (q.r2 == 0);
