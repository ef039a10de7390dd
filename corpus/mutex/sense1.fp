// Centralised sense-reversing barrier for two threads, passed repeatedly, with one full fence.
// Source: Hensgen, Finkel, Manber 1988; Mellor-Crummey, Scott 1991; a benchmark of [KVY11].
// Requirement: no thread leaves the barrier of a phase before the other has arrived at it, and
// count stays within 0..=N (its declared range; leaving it is a fault). The first part is checked
// on program counters, so the check adds no stores: thread 0 marks its even phases as critical,
// thread 1 its odd ones, and a thread that leaves a phase too early makes the two overlap. The
// threads are symmetric, so one parity each is enough. The check does not detect every early exit.
// Expected: verified everywhere: the count is reset before any thread passes the barrier.

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
