// Message passing: the reader spins on a flag and then reads the data.
// Source: the usual idiom; MP in Maranget, Sarkar, Sewell 2012.
// Expected: SC and TSO verified: the stores become visible in order, and the reader always ends.
// PSO and RMO violated: the flag may become visible before the data.

shared int data;
shared bool flag;

thread writer {
  data = 42;
  flag = true;
}

thread reader {
  while (!flag) skip;
  r = data;
}

final forall reader.r == 42;
