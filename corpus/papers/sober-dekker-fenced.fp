// Dekker's mutual exclusion algorithm for two threads with two critical sections each, with two
// full fences per thread.
// Source: [BM08] Fig. 4(a), dekker, see sober-dekker; the fences are ours.
// Expected: mutual exclusion everywhere: want[i] is visible before the other's flag is read, which
// alone gives mutual exclusion, see dekker1-tso in the folder mutex. Verified under SC and TSO. PSO
// and RMO: a hang. want[i] = false overtakes turn = 1 - i. The other thread passes its section, sets
// turn and finishes. Then turn = 1 - i overwrites its store, and this thread waits for turn forever.
// Robust under TSO: every path from a store to a later load contains a fence. The second fence is
// needed only in the paper's reading, where every re-read of a spin loop is an access. Without this
// fence, a thread backs off and makes a failed spin iteration on turn while its want[i] = false is
// still pending. The other thread leaves its section, sets turn, returns and still reads want[i] as
// true. This is harmless, but no SC order of all these accesses explains it. If failed spin
// iterations are ignored, an SC order exists.

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
