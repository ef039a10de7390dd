// Lamport's fast mutex for threads 1 and 2, entered repeatedly, with three full fences per thread:
// after lines 5, 13 and 29 of the figure.
// Source: Lamport 1987, A fast mutual exclusion algorithm; [KVY11] Fig. 7. DIVERGENCE from the
// figure: line 16 stores b[1] = false instead of b[i] = false, line 15 tests x instead of local_x.
// Expected: all but RMO verified: as fast2-tso, and the exit makes y = 0 visible before b[i] =
// false. Every load is followed by a branch, so rmo-nospec behaves like PSO. RMO violated: a load
// may pass the branch before it.

shared bool b[3];
shared int(0..3) x, y;

thread p(i in 1..3) {
  loop {
    start:
    b[i] = true;
    x = i;
    fence;
    local_y = y;
    if (local_y != 0) {
      b[i] = false;
      while (local_y != 0) local_y = y;
      goto start;
    }
    y = i;
    fence;
    local_x = x;
    if (local_x != i) {
      b[i] = false;
      do { other_b = b[3 - i]; } while (other_b);
      local_y = y;
      if (local_y != i) {
        while (local_y != 0) local_y = y;
        goto start;
      }
    }
    critical { skip; }
    y = 0;
    fence;
    b[i] = false;
  }
}

property mutual_exclusion;
