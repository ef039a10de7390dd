// A consumer that goes to sleep when there is no work, and a producer that wakes it: the wake-up
// can get lost.
// Source: [BM08] Fig. 4(b), from a production library. Lock and condition variable are interlocked
// operations, as there: atomic blocks, which also drain the thread's buffer. The two flags are not.
// Expected: SC verified; TSO, PSO, RMO violated: the consumer reads has_work while its store to
// is_idling is still pending, the producer sees nobody idling, and the consumer sleeps for ever.

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
