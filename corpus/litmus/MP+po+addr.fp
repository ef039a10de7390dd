// MP+po+addr: message passing through an index, without a fence in the writer.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER (MP with an address dependency).
// Expected: SC, TSO forbid; PSO, RMO allow: nothing orders the stores.

shared int slot[2];
shared int(0..2) index;

thread p {
  slot[1] = 1;
  index = 1;
}

thread q {
  r1 = index;
  r2 = slot[r1];
}

final exists (q.r1 == 1 && q.r2 == 0);
