// Dekker's mutual exclusion algorithm for two threads with two critical sections each, with two
// full fences per thread.
// Source: [BM08] Fig. 4(a), dekker, see sober-dekker; the fences are ours.
// Expected: verified everywhere: want[i] is visible before the other's flag is read, which alone
// gives mutual exclusion, see dekker1-tso in the folder mutex.
// Robust under TSO: every way from a store to a later load passes a fence. The second fence is
// there for the paper's reading only, in which every re-read of a waiting loop is an access. Without
// it a thread backs off and reads turn, in vain, while its want[i] = false is still pending; the
// other leaves its section, hands over turn, comes back and still reads want[i] as true. That does
// no harm, but no order of all these accesses explains it. Rounds of a wait that come to nothing left
// aside, one does.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  for (int k = 0; k < 2; k++) {
    loop {
      want[i] = true;
      fence;
      loop {
        w = want[1 - i];
        if (!w) break;
        t = turn;
        if (t != i) break;
      }
      if (!w) break;
      want[i] = false;
      fence;
      do { t = turn; } while (t != i);
    }
    critical { skip; }
    turn = 1 - i;
    want[i] = false;
  }
}

property mutual_exclusion;
