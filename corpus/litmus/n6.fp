// n6: a thread reads its own store early, then an old value, and its store is committed last.
// Source: Owens, Sarkar, Sewell 2009, x86-TSO, n6: allowed on the machines, forbidden by models of
// causality.
// Expected: SC forbids; TSO, PSO, RMO allow: p forwards its pending x, loads y before q stores it,
// and commits x after q's x = 2.

shared int x, y;

thread p {
  x = 1;
  r1 = x;
  r2 = y;
}

thread q {
  y = 2;
  x = 2;
}

final exists (p.r1 == 1 && p.r2 == 0 && x == 1);
