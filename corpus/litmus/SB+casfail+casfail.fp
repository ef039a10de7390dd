// SB+casfail+casfail: store buffering with a failing cas of a private location between store and
// load.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: SC, TSO forbid; PSO, RMO allow: the cas waits for the queue whether it succeeds or not,
// under PSO only for that of its own location.

shared int x, y, z, w;

thread p {
  x = 1;
  cas(z, 1, 2);
  r1 = y;
}

thread q {
  y = 1;
  cas(w, 1, 2);
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
