// A thread waits for a flag that no thread sets.
// Source: ours; the smallest hang.
// Expected: violated everywhere: reader waits forever.

shared bool flag;
shared int x;

thread reader {
  while (!flag) skip;
  x = 1;
}

thread writer {
  x = 2;
}

final forall x == 1;
