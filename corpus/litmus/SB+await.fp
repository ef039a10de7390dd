// SB+await: store buffering where a thread waits between its store and its load.
// Source: own, from SB.
// Expected: SC forbids; TSO, PSO, RMO allow: `await` drains nothing, so the store stays pending.

shared int x, y, z = 1;

thread p {
  x = 1;
  await(z == 1);
  r1 = y;
}

thread q {
  y = 1;
  await(z == 1);
  r2 = x;
}

final exists (p.r1 == 0 && q.r2 == 0);
