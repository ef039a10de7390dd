// Dekker's algorithm protecting data: a counter is incremented, checked and decremented in the
// section, repeatedly; without fences.
// Source: the Dekker row of [KVY10] (Tables II and III), which reports one fence under TSO and two
// under PSO and RMO; the protected data is our own: the number of threads inside, in plain shared
// memory.
// Expected: SC verified; TSO, PSO, RMO violated: both threads can be inside, see dekker0, and one
// of them reads 2.

shared bool want[2];
shared int(0..2) turn;
shared int inside;

thread p(i in 0..2) {
  loop {
    want[i] = true;
    loop {
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
    turn = 1 - i;
    want[i] = false;
  }
}
