// A store before a loop without accesses. The stateless engine and the search for attacks treated
// the loop as a spin loop that fails, and omitted the step with the store: the program was verified.
// Expected: violated everywhere: q reads 1.

shared int x;

thread p {
  x = 1;
  loop {
    skip;
  }
}

thread q {
  r = x;
  assert(r == 0);
}
