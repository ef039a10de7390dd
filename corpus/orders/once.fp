// One-time initialisation as a state machine: the first thread initialises, the others wait.
// Source: the usual implementation of call_once, for two threads.
// Expected: verified under every model.

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
        state.store(ready, release);
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
