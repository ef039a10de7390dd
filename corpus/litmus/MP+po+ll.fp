// MP+po+ll: message passing with a load-load fence in the reader.
// Source: Intel 2007, memory ordering white paper, example 2.1; Maranget, Sarkar, Sewell 2012,
// tutorial on ARM and POWER.
// Expected: SC, TSO forbid; PSO, RMO allow: nothing orders the stores.

shared int x, y;

thread p {
  x = 1;
  y = 1;
}

thread q {
  r1 = y;
  fence load_load;
  r2 = x;
}

final exists (q.r1 == 1 && q.r2 == 0);
