// Store buffering where each thread first reads its own store; both can finish only if both last
// loads read 0.
// Source: [LW10] Table 1, intra-processor forwarding.
// A load that tests a value, load(p, m, d), is a load and `assume`: a thread that has read another
// value does not finish. The tested locations change once at most, from 0 to 1, so a spin loop
// would change nothing: each thread reads its own 1, and 0 never returns.
// Expected: SC cannot finish; TSO, PSO, RMO can: a thread forwards its own pending store.

shared int x, y;

thread p {
  x = 1;
  r1 = x;
  assume(r1 == 1);
  r2 = y;
  assume(r2 == 0);
}

thread q {
  y = 1;
  r1 = y;
  assume(r1 == 1);
  r2 = x;
  assume(r2 == 0);
}

final exists (p.r1 == 1 && p.r2 == 0 && q.r1 == 1 && q.r2 == 0);
