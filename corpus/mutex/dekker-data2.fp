// Dekker's algorithm protecting data: a counter is incremented, checked and decremented in the
// section, repeatedly; with the entry fence and one at the end of the section.
// Source: the Dekker row of [KVY10] (Tables II and III), which reports one fence under TSO and two
// under PSO and RMO; the protected data is our own: the number of threads inside, in plain shared
// memory.
// Expected: RMO violated: the data may be loaded before the loop ends. All others verified, also
// rmo-nospec: the data is visible before the flag is reset, and the flags give
// mutual exclusion.

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
