// A test-and-set lock that is never released. The wait writes the value that is in memory already.
// Source: ours; the swap of a failed attempt has no effect, so the loop is a wait.
// Expected: violated everywhere: the second thread waits forever.

shared bool lock;

thread p(i in 0..2) {
  while (swap(lock, true)) skip;
  critical { skip; }
}

property mutual_exclusion;
