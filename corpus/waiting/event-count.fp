// An event count whose waiter announces itself before it checks the condition, without fences.
// Source: Reed, Kanodia 1979. A notifier advances the count only if a waiter is announced.
// Expected: SC verified. TSO, PSO and RMO violated: both threads read before their stores are
// visible (store buffering), so the waiter sees no event and the notifier sees no waiter. The
// waiter waits forever.

shared bool ready, waiting;
shared int(0..2) count;

thread waiter {
  int key = count;
  waiting = true;
  bool is_ready = ready;
  if (!is_ready) {
    while (count == key) skip;
  }
}

thread notifier {
  ready = true;
  if (waiting) fetch_add(count, 1);
}
