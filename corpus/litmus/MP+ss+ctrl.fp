// MP+ss+ctrl: message passing where the reader loads the data only after it has seen the flag.
// Source: Maranget, Sarkar, Sewell 2012, tutorial on ARM and POWER (MP with a control dependency).
// Expected: forbidden everywhere: the stores are in order, and a branch waits for the value it
// needs: nothing is speculated (SPARC RMO would allow it).

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
