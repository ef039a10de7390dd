// The ticket lock of ticket-lock without the fence before the release.
// Source: Reed, Kanodia 1979; Mellor-Crummey, Scott 1991.
// Expected: SC and TSO verified. PSO violated: the release becomes visible before the data.

shared u32 next, owner;
shared int(0..4) data;

thread p(i in 0..3) {
  loop {
    my = fetch_add(next, 1);
    while (owner != my) skip;
    data = i + 1;
    d = data;
    assert(d == i + 1);
    owner = my + 1;
  }
}
