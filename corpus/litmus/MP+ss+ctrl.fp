// MP+ss+ctrl: message passing where the reader loads the data only after it has seen the flag.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER (MP with a control dependency).
// Expected: SC, TSO, PSO forbid: the stores are in order, and so are the loads. RMO allows: a control
// dependency does not order loads. rmo-nospec forbids: the load waits for the branch.

shared int x, y;

thread p {
  x = 1;
  fence store_store;
  y = 1;
}

thread q {
  r1 = y;
  if (r1 == 1) r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
