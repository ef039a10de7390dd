// A counter that is protected by a ticket lock, for two threads, entered once.
// All accesses are relaxed, and there are no fences.
// Source: Mellor-Crummey and Scott 1991, Algorithms for scalable synchronization on shared-memory
// multiprocessors.
// Expected: SC, TSO verified. PSO, RMO, ARM violated: the accesses to count may leave the critical
// section.

shared int(0..3) next, serving;
shared int(0..3) count;

thread p(i in 0..2) {
  int ticket = next.fetch_add(1, relaxed);
  int now;
  do { now = serving.load(relaxed); } while (now != ticket);
  critical { count = count + 1; }
  serving.store(ticket + 1, relaxed);
}

property mutual_exclusion;
final forall count == 2;
