// Anderson's array lock as in array-lock, without the fence before the release.
// Source: Anderson 1990, The performance of spin lock alternatives for shared-memory
// multiprocessors.
// Expected: SC and TSO verified. PSO violated: the next thread may enter before the data is visible.

shared u32 tail;
shared bool may_enter[4] = {true, false, false, false};
shared int(0..4) data;

thread p(i in 0..3) {
  loop {
    my = fetch_add(tail, 1);
    do { go = may_enter[my % 4]; } while (!go);
    may_enter[my % 4] = false;
    data = i + 1;
    d = data;
    assert(d == i + 1);
    may_enter[(my + 1) % 4] = true;
  }
}
