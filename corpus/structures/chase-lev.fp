// Chase and Lev's work-stealing queue: push p and take t by the owner, steal s by thieves; without
// fences.
// Source: Chase and Lev 2005, as [KVY10] Fig. 1 prints it, with the clients of its Tables II and
// III. The comments give the line numbers of the figure.
// DIVERGENCE: the figure's take leaves bottom below top when its compare-and-swap fails (line 14),
// so the next pushed task is lost, even under SC: see chase-lev-printed.fp. Here bottom is set
// first, as in Chase and Lev's paper. The owner loads size, ap, wsq and bottom once where the
// figure loads them again: only the owner writes them.
// The first array has the smallest useful size, 2, and holds one task. The second push in a row
// grows it to 4: in the initial part of pppt(...), concurrently with the thief in tttt(tpp|sss).
// All arrays have sixteen slots; a slot that was never written holds 0, which is not a task.
// Pools and ranges are large enough for clients with ten operations.
// Expected: SC verified. TSO violated in the pppt(...) clients: take and steal return the same
// task. PSO and RMO violated in all clients.
// Fences, as in the figure: under TSO store-load before take 5; under PSO also store-store before
// push 9 and before expand 10; under RMO also load-load before steal 3 and before steal 4, and
// load-store before steal 8. Each is needed by at least one client.

record Items { int(0..=10) slot[16]; }
record Array { int(0..=16) size; Items ap; }
pool Items[4];
pool Array[4];
const EMPTY = -1;
const ABORT = -2;

shared int(-1..=11) top;
shared int(-1..=11) bottom;
shared Array wsq;

init {
  q = new Array;
  q.size = 2;
  q.ap = new Items;
  wsq = q;
}

proc Array expand() {
  old = wsq;
  oldsize = old.size;                   // expand 2
  newsize = oldsize * 2;
  newitems = new Items;                 // expand 3
  newq = new Array;                     // expand 4
  olditems = old.ap;
  t = top;                              // expand 5
  b = bottom;
  for (int i = t; i < b; i++) {
    x = olditems.slot[i % oldsize];     // expand 6
    newitems.slot[i % newsize] = x;
  }
  newq.size = newsize;                  // expand 8
  newq.ap = newitems;                   // expand 9
  wsq = newq;                           // expand 10
  return newq;
}

operation void push(int task) as p, owner {
  b = bottom;                           // push 2
  t = top;                              // push 3
  q = wsq;                              // push 4
  size = q.size;                        // push 5
  if (b - t >= size - 1) {
    q = expand();                       // push 6
    size = q.size;
  }
  ap = q.ap;
  ap.slot[b % size] = task;             // push 8
  bottom = b + 1;                       // push 9
}

operation int take() as t, owner {
  b = bottom;                           // take 2
  b = b - 1;
  q = wsq;                              // take 3
  bottom = b;                           // take 4
  t = top;                              // take 5
  if (b < t) {
    bottom = t;                         // take 7
    return EMPTY;
  }
  size = q.size;
  ap = q.ap;
  task = ap.slot[b % size];             // take 10
  if (b > t) return task;
  if (!cas(top, t, t + 1)) {            // take 13
    bottom = t + 1;                     // not in the figure
    return EMPTY;
  }
  bottom = t + 1;                       // take 15
  return task;
}

operation int steal() as s, aborts ABORT {
  t = top;                              // steal 2
  b = bottom;                           // steal 3
  q = wsq;                              // steal 4
  if (t >= b) return EMPTY;
  size = q.size;
  ap = q.ap;
  task = ap.slot[t % size];             // steal 7
  if (!cas(top, t, t + 1)) return ABORT; // steal 8
  return task;
}

property sequentially_consistent operations;

client pppt(tpt|sss);
client tttt(ptt|sss);
client pppt(ttp|sss);
client tttt(tpp|sss);
client tttp(tptp|ss);
