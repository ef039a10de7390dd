// A loop in an atomic block that never ends: nothing can change x while the block runs.
// The stateless engine took it for a spin loop and verified the program.
// Expected: violated everywhere, the block runs too long.

shared int x;

thread p {
  atomic {
    while (x == 0) skip;
  }
}
