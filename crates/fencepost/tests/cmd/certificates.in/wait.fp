// The waiter misses the notification and waits forever: a hang.
shared bool ready, waiting, woken;
thread waiter {
  waiting = true;
  r = ready;
  if (!r) { while (!woken) skip; }
}
thread notifier {
  ready = true;
  w = waiting;
  if (w) { woken = true; }
}
