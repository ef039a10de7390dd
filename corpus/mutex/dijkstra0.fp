// Dijkstra's mutual exclusion algorithm for two threads, entered repeatedly, without fences.
// Source: Dijkstra 1965, Solution of a problem in concurrent programming control. wants[i] is the
// paper's not b[i], inside[i] is not c[i], turn is k.
// Expected: SC verified; TSO, PSO, RMO violated: both threads may read their own index from turn
// (one by forwarding), and each reads the other's inside as false while its own is pending.

shared bool wants[2];
shared bool inside[2];
shared int(0..2) turn;

thread p(i in 0..2) {
  loop {
    wants[i] = true;
    again:
    t = turn;
    if (t != i) {
      inside[i] = false;
      t = turn;
      w = wants[t];
      if (!w) turn = i;
      goto again;
    }
    inside[i] = true;
    o = inside[1 - i];
    if (o) goto again;
    critical { skip; }
    inside[i] = false;
    wants[i] = false;
  }
}

property mutual_exclusion;
