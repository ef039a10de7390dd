// Two threads that withdraw politely: each announces itself, and withdraws if the other has
// announced itself, too.
// Source: Dijkstra 1965, "Solution of a problem in concurrent programming control": after-you.
// Expected: violated everywhere, also under SC: both announce, both withdraw, both announce, ...
// This is a livelock, not a hang: the threads go on storing.

shared bool want[2];

thread p(i in 0..2) {
  loop {
    want[i] = true;
    fence;
    if (!want[1 - i]) break;
    want[i] = false;
    fence;
  }
  critical { skip; }
  want[i] = false;
}

property mutual_exclusion;
property progress;
