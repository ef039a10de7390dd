// LB+overwrite: load buffering where the register is overwritten between load and store.
// Source: [KVY10], RLX; register renaming.
// Expected: SC, TSO, PSO forbid; RMO allows: y = r1 reads the new r1, so it depends on no load; a
// reused register name orders nothing.

shared int x, y;

thread p {
  r1 = x;
  r2 = r1;
  r1 = 1;
  y = r1;
}

thread q {
  r1 = y;
  r2 = r1;
  r1 = 1;
  x = r1;
}

final exists (p.r2 == 1 && q.r2 == 1);
