// Chase and Lev's work-stealing queue: push p and take t by the owner, steal s by thieves. The array
// does not grow.
// Source: Lê, Pop, Cohen, Zappa Nardelli 2013, Correct and efficient work-stealing for weak memory
// models, Fig. 1, with its memory orders.
// Expected: verified under every model.

const SIZE = 2;
const EMPTY = -1;
const ABORT = -2;

shared int(0..=4) slot[SIZE];
shared int(0..=4) top;
shared int(-1..=4) bottom;

operation void push(int task) as p, owner {
  b = bottom.load(relaxed);
  t = top.load(acquire);
  assert(b - t < SIZE);
  slot[b % SIZE].store(task, relaxed);
  fence release;
  bottom.store(b + 1, relaxed);
}

operation int take() as t, owner {
  b = bottom.load(relaxed) - 1;
  bottom.store(b, relaxed);
  fence seq_cst;
  t = top.load(relaxed);
  if (b < t) {
    bottom.store(b + 1, relaxed);
    return EMPTY;
  }
  task = slot[b % SIZE].load(relaxed);
  if (b > t) return task;
  bool won = top.compare_exchange(t, t + 1, seq_cst, relaxed);
  bottom.store(b + 1, relaxed);
  if (!won) return EMPTY;
  return task;
}

operation int steal() as s, aborts ABORT {
  t = top.load(acquire);
  fence seq_cst;
  b = bottom.load(acquire);
  if (t >= b) return EMPTY;
  task = slot[t % SIZE].load(relaxed);
  if (!top.compare_exchange(t, t + 1, seq_cst, relaxed)) return ABORT;
  return task;
}

property sequentially_consistent operations;

client pt|s;
client p(pt|s);
client p(ptt|ss);
