// Store buffering with a fence in each thread.
// Source: [BM08] Fig. 1(b), see sober-fig1b; the fences are ours.
// Expected: verified everywhere: each store is visible before the other location is read. Robust
// under TSO: a fence is between the only store and the only load of each thread.

shared int X, Y;

thread p {
  X = 1;
  fence;
  r1 = Y;
}

thread q {
  Y = 1;
  fence;
  r2 = X;
}

final never p.r1 == 0 && q.r2 == 0;
