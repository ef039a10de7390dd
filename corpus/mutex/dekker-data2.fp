// Dekker's algorithm protecting data: a counter is raised, checked and lowered inside the section,
// again and again; with the entry fence and one at the end of the section.
// Source: the Dekker row of [KVY10] (Tables II and III), which asks for one fence under TSO and two
// under PSO and RMO; the protected data is our own: a count of the threads inside, in plain shared
// memory.
// Expected: verified everywhere: the data is visible before the flag is lowered, and the flags keep
// the sections apart.

shared bool want[2];
shared int(0..2) turn;
shared int inside;

thread p(i in 0..2) {
  loop {
    want[i] = true;
    loop {
      fence;
      w = want[1 - i];
      if (!w) break;
      t = turn;
      if (t != i) {
        want[i] = false;
        do { t = turn; } while (t != i);
        want[i] = true;
      }
    }
    inside++;
    n = inside;
    assert(n == 1);
    inside--;
    fence;
    turn = 1 - i;
    want[i] = false;
  }
}
