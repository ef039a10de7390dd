// An event count whose waiter checks the condition before it announces itself.
// Source: Reed, Kanodia 1979, with the error that they warn of. A notifier advances the count only
// if a waiter is announced.
// Expected: violated everywhere, also under SC: the waiter sees ready = false, the notifier sets it
// and finds no waiter, the waiter announces itself and waits forever.

shared bool ready, waiting;
shared int(0..2) count;

thread waiter {
  int key = count;
  bool is_ready = ready;
  if (!is_ready) {
    waiting = true;
    fence;
    while (count == key) skip;
  }
}

thread notifier {
  ready = true;
  fence;
  if (waiting) fetch_add(count, 1);
}
