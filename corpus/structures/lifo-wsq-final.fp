// LIFO idempotent work stealing with a condition on final states: put p, take t, steal s.
// Source: as lifo-wsq, for the row pp(ptp|ss) of [KVY10], which needs fewer constraints than our
// results show. The condition is weaker than consistency of the results: the queue may be empty at
// the end only if every task was returned, and no result is an unwritten slot. A task that is lost
// although the queue is not empty is not detected.
// Expected: SC and TSO verified. PSO and RMO violated.
// Fences: as lifo-wsq.

record Array { int(0..=10) slot[16]; }
pool Array[5];
const EMPTY = -1;
const TAG = 16;                         // anchor = tag * TAG + tail

shared int(0..256) anchor;
shared int(0..=16) capacity = 1;
shared Array tasks;

init { tasks = new Array; }

proc void expand() {
  old = tasks;
  c = capacity;
  a = new Array;                        // expand 1
  for (int i = 0; i < c; i++) {
    x = old.slot[i];
    a.slot[i] = x;                      // expand 2
  }
  tasks = a;                            // expand 3
  capacity = 2 * c;                     // expand 4
}

operation void put(int task) as p, owner {
  loop {
    x = anchor;                         // put 1
    t = x % TAG;
    c = capacity;                       // put 2
    if (t != c) break;
    expand();
  }
  a = tasks;
  a.slot[t] = task;                     // put 3
  anchor = (x / TAG + 1) * TAG + t + 1; // put 4
}

operation int take() as t, owner, repeats {
  x = anchor;                           // take 1
  t = x % TAG;
  if (t == 0) return EMPTY;             // take 2
  a = tasks;
  task = a.slot[t - 1];                 // take 3
  anchor = x - 1;                       // take 4
  return task;
}

operation int steal() as s, repeats {
  loop {
    x = anchor;                         // steal 1
    t = x % TAG;
    if (t == 0) return EMPTY;           // steal 2
    a = tasks;                          // steal 3
    task = a.slot[t - 1];               // steal 4
    if (cas(anchor, x, x - 1)) break;   // steal 5
  }
  return task;
}

// The tasks are 1 to 4, and there are three results. So the queue is not empty at the end.
final forall anchor % TAG != 0;
final forall t1 != 0 && s1 != 0 && s2 != 0;

client pp(ptp|ss);
