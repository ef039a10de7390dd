// Chase and Lev's work-stealing queue as printed: incorrect even under SC.
// Source: [KVY10] Fig. 1; see chase-lev.fp for the encoding and the line numbers in the comments.
// When the compare-and-swap of take fails, a thief has taken the last task and top is bottom + 1;
// line 14 returns without setting bottom to top. The next push fills a slot below top, where no
// operation looks: its task is lost. Line 14 lacks the store to bottom that line 15 has.
// Expected: violated everywhere by these two clients of the paper.

record Items { int(0..8) slot[4]; }
record Array { int(0..8) size; Items ap; }
pool Items[2];
pool Array[2];
const EMPTY = -1;
const ABORT = -2;

shared int(-2..6) top;
shared int(-2..6) bottom;
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
    return EMPTY;                       // take 14
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
client tttp(tptp|ss);
