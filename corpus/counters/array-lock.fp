// Anderson's array lock for three threads, entered repeatedly, with four slots.
// Source: Anderson 1990, The performance of spin lock alternatives for shared-memory
// multiprocessors. A ticket modulo 4 is the slot in which its thread waits. Tickets wrap at 2^32,
// which 4 divides.
// Expected: verified under SC, TSO and PSO, for all numbers. Without the fences (array-lock0): PSO
// violated.

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
    fence store_store; // repair
    may_enter[(my + 1) % 4] = true;
  }
}
