// Store buffering, the execution that distinguishes TSO from SC.
// Source: [BM08] Fig. 1(b); the litmus test SB under the paper's names.
// Expected: SC verified; TSO, PSO, RMO violated: each thread reads the other's location while its
// own store is still pending. Not robust under TSO for the same reason.

shared int X, Y;

thread p {
  X = 1;
  r1 = Y;
}

thread q {
  Y = 1;
  r2 = X;
}

final never p.r1 == 0 && q.r2 == 0;
