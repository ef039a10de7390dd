// forward+data: a load that reads from an earlier store of its thread whose value is not known yet.
// Source: [KVY10], RLX: read own writes early.
// Expected: forbidden everywhere: the load waits for the value of the store it reads from.

shared int x, y;

thread p {
  r1 = y;
  x = r1;
  r2 = x;
}

thread q {
  y = 1;
}

final exists (p.r1 == 1 && p.r2 == 0);
