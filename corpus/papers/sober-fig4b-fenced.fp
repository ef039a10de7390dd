// A consumer that goes to sleep when there is no work, and a producer that wakes it, with fences.
// Source: [BM08] Fig. 4(b), see sober-fig4b; the fences are ours.
// Expected: verified everywhere: each flag is visible before the other one is read, so either the
// consumer sees the work or the producer sees the consumer.

shared bool is_idling, has_work;
shared bool lock, waiting, pulsed;

thread consumer {
  atomic { assume(!lock); lock = true; }                // lock (condVariable) {
  is_idling = true;
  fence;
  w = has_work;
  if (!w) {                                             //   Wait(condVariable)
    atomic { waiting = true; lock = false; }
    atomic { assume(pulsed && !lock); lock = true; }
  }
  is_idling = false;
  atomic { lock = false; }                              // }
}

thread producer {
  has_work = true;
  fence;
  i = is_idling;
  if (i) {
    atomic { assume(!lock); lock = true; }              // lock (condVariable) {
    atomic { if (waiting) pulsed = true; }              //   Pulse(condVariable)
    atomic { lock = false; }                            // }
  }
}

property deadlock_free;
