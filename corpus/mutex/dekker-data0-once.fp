// Dekker's algorithm protecting data, entered once by each thread: a counter is incremented,
// checked and decremented in the section; without fences.
// Source: the Dekker rows of [KVY10] (Tables II and III); the protected data is our own, as in
// dekker-data0, where the threads enter repeatedly.
// Expected: SC verified; TSO, PSO, RMO violated as in dekker-data0.

shared bool want[2];
shared int(0..2) turn;
shared int inside;

thread p(i in 0..2) {
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
