// Centralised sense-reversing barrier for two threads, passed repeatedly, without fences.
// Source: Hensgen, Finkel, Manber 1988; Mellor-Crummey, Scott 1991; a benchmark of [KVY11].
// Requirement: no thread leaves the barrier of a phase before the other has arrived at it, and
// count stays within 0..=N (its declared range; leaving it is a fault). The first part is checked
// on program counters, so the check adds no stores: thread 0 marks its even phases as critical,
// thread 1 its odd ones, and a thread that leaves a phase too early makes the two overlap. The
// threads are symmetric, so one parity each is enough. The check does not detect every early exit.
// Expected: SC and TSO verified: count = N is committed before sense. PSO and RMO violated: sense
// may overtake count = N; a thread that passes the barrier then decrements 0. (It still cannot
// leave too early. Without the declared range the count would be lost and both threads would wait
// forever.)

const N = 2;

shared int(0..=N) count = N;
shared bool sense;

proc bool barrier(bool last) {
  bool mine = !last;
  n = fetch_sub(count, 1);
  if (n == 1) {
    count = N;
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
