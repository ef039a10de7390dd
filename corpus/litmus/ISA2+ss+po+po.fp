// ISA2+ss+po+po: message passing through a third thread with a store-store fence in the writer.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER.
// Expected: SC, TSO, PSO forbid; RMO allows: the stores are in order; RMO may still reorder inside
// q or s.

shared int x, y, z;

thread p {
  x = 1;
  fence store_store;
  y = 1;
}

thread q {
  r1 = y;
  z = 1;
}

thread s {
  r1 = z;
  r2 = x;
}

final exists (q.r1 == 1 && s.r1 == 1 && s.r2 == 0);
