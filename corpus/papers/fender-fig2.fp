// Message passing, the example of FENDER's overview.
// Source: [KVY10] Fig. 2 and 3.
// DIVERGENCE: the paper requires R1 >= R2 and gives R1 = 0, R2 = 1 as the error. SC reaches this
// state, because R1 is loaded first, from Y, and then R2 from X. The avoid formula of Fig. 3,
// [A1 < A2] and [B1 < B2], excludes R1 = 1, R2 = 0. So the intended property is R1 <= R2.
// Expected: SC and TSO verified; PSO and RMO violated: PSO may commit y before x, RMO may also
// reorder the loads.

shared int x, y;

thread p {
  x = 1;
  y = 1;
}

thread q {
  r1 = y;
  r2 = x;
}

final forall (q.r1 <= q.r2);
