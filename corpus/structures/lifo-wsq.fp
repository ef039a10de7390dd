// LIFO idempotent work stealing: put p and take t by the owner, steal s by thieves; without fences.
// Source: Michael, Vechev and Saraswat 2009, the LIFO algorithm; the LIFO WSQ rows of
// [KVY10] (Tables II and III) with their clients. The comments number the steps. A task may be
// extracted more than once, but not lost. The anchor, a pair of tail and tag in one word, is the
// number tag * TAG + tail.
// Simplified: arrays have sixteen slots, whatever their capacity. A slot beyond the capacity holds
// 0, which is not a task; the original would read out of bounds. Arrays are not freed.
// Pools and ranges are large enough for clients with ten operations.
// Initial states: the table's 2/2 is capacity 2 with 2 tasks, its 1/1 capacity 1 with 1 task. The
// first array has capacity 1, so pp( and p( reach these states: the second put doubles it.
// Expected: SC and TSO verified. PSO violated: the anchor overtakes the task, or the array
// overtakes the copied tasks, or the anchor overtakes the array. RMO is also violated because
// steal's compare-and-swap overtakes the load of the task, whose slot is then filled again.
// Fences: store-store before put 4 and before expand 3; under RMO also load-store before steal 5.
// They implement the paper's four constraints: put 3 < put 4, expand 3 < put 4, expand 2 < expand
// 3, steal 4 < steal 5. The branch between steal 1 and steal 3 orders these two.

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

property sequentially_consistent operations;

client pp(tp|ss);
client pp(tpt|ss);
client pp(ptp|ss);
client pp(ptt|ss);
client p(ptt|ss);
