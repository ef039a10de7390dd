// A counter that is protected by a ticket lock, for two threads, entered once.
// Source: Mellor-Crummey and Scott 1991, Algorithms for scalable synchronization on shared-memory
// multiprocessors; with the orders of C11.
// Expected: verified under every model.

shared int(0..3) next, serving;
shared int(0..3) count;

thread p(i in 0..2) {
  int ticket = next.fetch_add(1, relaxed);
  int now;
  do { now = serving.load(acquire); } while (now != ticket);
  critical { count = count + 1; }
  serving.store(ticket + 1, release);
}

property mutual_exclusion;
final forall count == 2;
