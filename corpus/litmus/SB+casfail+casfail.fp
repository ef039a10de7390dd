// SB+casfail+casfail: store buffering with a failing cas of a private location between store and
// load.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: SC, TSO forbid; PSO, RMO allow: under TSO even a failing cas waits until the queue is
// empty; under PSO it waits only for the queue of its own location.

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
