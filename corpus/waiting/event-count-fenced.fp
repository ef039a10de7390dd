// An event count with the two fences that it needs.
// Source: see event-count.
// Expected: verified everywhere.

shared bool ready, waiting;
shared int(0..2) count;

thread waiter {
  int key = count;
  waiting = true;
  fence;
  bool is_ready = ready;
  if (!is_ready) {
    while (count == key) skip;
  }
}

thread notifier {
  ready = true;
  fence;
  if (waiting) fetch_add(count, 1);
}
