// Ticket lock for three threads, entered repeatedly, with tickets of 32 bits that wrap.
// Source: Reed, Kanodia 1979; Mellor-Crummey, Scott 1991. The fence orders the critical section
// before the release.
// Expected: verified under SC, TSO and PSO, for all numbers. Without the fence (ticket-lock0): PSO
// violated, because the release becomes visible before the data.

shared u32 next, owner;
shared int(0..4) data;

thread p(i in 0..3) {
  loop {
    my = fetch_add(next, 1);
    while (owner != my) skip;
    data = i + 1;
    d = data;
    assert(d == i + 1);
    fence store_store; // repair
    owner = my + 1;
  }
}
