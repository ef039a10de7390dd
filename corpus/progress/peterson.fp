// Peterson's lock for two threads, entered repeatedly, with the fences that it needs.
// Source: Peterson 1981; see peterson2 in the folder mutex.
// Expected: verified under SC, TSO and PSO, also progress: a thread that waits enters before the
// other thread enters twice. RMO is not recorded: progress is not checked there.

shared bool want[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  loop {
    want[i] = true;
    fence;
    turn = 1 - i;
    fence;
    while (want[1 - i] && turn == 1 - i) skip;
    critical { skip; }
    fence;
    want[i] = false;
  }
}

property mutual_exclusion;
property progress;
