// Lamport's fast mutex for threads 1 and 2, entered repeatedly, without fences.
// Source: Lamport 1987, A fast mutual exclusion algorithm; [KVY11] Fig. 7. DIVERGENCE from the
// figure: line 16 stores b[1] = false instead of b[i] = false, line 15 tests x instead of local_x.
// Expected: SC verified; TSO, PSO, RMO violated: both threads take the fast path, each reading y ==
// 0 and its own pending x.

shared bool b[3];
shared int(0..3) x, y;

thread p(i in 1..3) {
  loop {
    start:
    b[i] = true;
    x = i;
    local_y = y;
    if (local_y != 0) {
      b[i] = false;
      while (local_y != 0) local_y = y;
      goto start;
    }
    y = i;
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
    b[i] = false;
  }
}

property mutual_exclusion;
