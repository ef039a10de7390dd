// One-time initialisation as a state machine. The end is published with a relaxed store.
// Source: the usual implementation of call_once, for two threads, with one order weakened.
// Expected: SC and TSO verified. PSO and RMO violated: the state may become visible before the
// data.

enum State { empty, busy, ready }

shared State state;
shared int(0..2) data;
shared int(0..=2) runs;

thread p(i in 0..2) {
  bool done = false;
  while (!done) {
    switch (state.load(acquire)) {
      case empty:
        if (!state.compare_exchange(empty, busy, acquire, relaxed)) break;
        runs.fetch_add(1, relaxed);
        data = 1;
        state.store(ready, relaxed);
      case ready:
        assert(data == 1);
        done = true;
        break;
      case busy:
        await(state != busy);
    }
  }
}

final forall runs == 1;
