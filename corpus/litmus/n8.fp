// n8: store buffering where each thread first reads its own store.
// Source: Owens, Sarkar, Sewell 2009, x86-TSO, n8; [LW10] Table 1.
// Expected: SC forbids; TSO, PSO, RMO allow: a thread's own store is forwarded while it is pending.

shared int x, y;

thread p {
  x = 1;
  r1 = x;
  r2 = y;
}

thread q {
  y = 1;
  r1 = y;
  r2 = x;
}

final exists (p.r1 == 1 && p.r2 == 0 && q.r1 == 1 && q.r2 == 0);
