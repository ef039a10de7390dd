// A consumer that goes to sleep when there is no work, and a producer that wakes it: the wake-up
// can be lost.
// Source: [BM08] Fig. 4(b), from a production library. As there, lock and condition variable use
// interlocked operations: atomic blocks, which wait for pending stores. The two flags do not.
// Expected: SC verified; TSO, PSO, RMO violated: the consumer reads has_work while its store to
// is_idling is still pending, the producer sees no idle consumer, and the consumer sleeps forever.

shared bool is_idling, has_work;
shared bool lock, waiting, pulsed;

thread consumer {
  atomic { assume(!lock); lock = true; }                // lock (condVariable) {
  is_idling = true;
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
  i = is_idling;
  if (i) {
    atomic { assume(!lock); lock = true; }              // lock (condVariable) {
    atomic { if (waiting) pulsed = true; }              //   Pulse(condVariable)
    atomic { lock = false; }                            // }
  }
}

property deadlock_free;
