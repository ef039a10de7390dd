// A ticket lock whose 32-bit tickets wrap: the first ticket is 4294967295, the next one is 0.
// Source: Mellor-Crummey and Scott 1991, Algorithms for scalable synchronization on shared-memory
// multiprocessors.
// Expected: verified under every model.

shared u32 next = 4294967295, serving = 4294967295;
shared int(0..3) count;

thread p(i in 0..2) {
  u32 ticket = next.fetch_add(1, relaxed);
  u32 now;
  do { now = serving.load(acquire); } while (now != ticket);
  critical { count = count + 1; }
  serving.store(ticket + 1, release);
}

property mutual_exclusion;
final forall count == 2 && next == 1 && serving == 1;
