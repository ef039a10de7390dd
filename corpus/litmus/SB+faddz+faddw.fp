// SB+faddz+faddw: store buffering with an update of a private location between store and load.
// Source: Intel 2007, memory ordering white paper, example 2.3.a; the core of Dekker's algorithm.
// Expected: SC, TSO forbid; PSO, RMO allow: under TSO an update waits until the queue is empty;
// under PSO only for the queue of its own location ([KVY11] section 3); RMO orders nothing here.

shared int x, y, z, w;

thread p {
  x = 1;
  fetch_add(z, 1);
  r1 = y;
}

thread q {
  y = 1;
  fetch_add(w, 1);
  r1 = x;
}

final exists (p.r1 == 0 && q.r1 == 0);
