// Centralised sense-reversing barrier for two threads, passed again and again, with one full fence.
// Source: Hensgen, Finkel, Manber 1988; Mellor-Crummey, Scott 1991; a benchmark of [KVY11].
// What must hold: no thread leaves the barrier of a phase before the other has arrived at it, and
// count stays within 0..N (its declared range: leaving it is a fault). The first is checked on
// program counters, so that the check has no stores of its own: thread 0 marks its even phases as
// critical, thread 1 its odd ones, and whoever leaves a phase too early makes the two overlap. The
// threads are alike, so one parity for each is enough. The check does not see every early exit.
// Expected: verified everywhere: the count is renewed before anybody is let through.

const N = 2;

shared int(0..=N) count = N;
shared bool sense;

proc bool barrier(bool last) {
  bool mine = !last;
  n = fetch_sub(count, 1);
  if (n == 1) {
    count = N;
    fence;
    sense = mine;
  } else {
    do { s = sense; } while (s != mine);
  }
  return mine;
}

thread p(i in 0..N) {
  bool phase = false;
  loop {
    if (i == 0) { critical { skip; } }      // even phases
    phase = barrier(phase);
    if (i == 1) { critical { skip; } }      // odd phases
    phase = barrier(phase);
  }
}

property mutual_exclusion;
