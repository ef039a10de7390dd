// n7: a thread reads its own store early, with an observer.
// Source: Owens, Sarkar, Sewell 2009, x86-TSO, n7.
// Expected: SC forbids; TSO, PSO, RMO allow: p forwards its pending x, which s does not see yet.

shared int x, y;

thread p {
  x = 1;
  r1 = x;
  r2 = y;
}

thread q {
  y = 1;
}

thread s {
  r1 = y;
  r2 = x;
}

final exists (p.r1 == 1 && p.r2 == 0 && s.r1 == 1 && s.r2 == 0);
