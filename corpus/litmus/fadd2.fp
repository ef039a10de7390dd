// fadd2: two atomic increments.
// Source: folklore.
// Expected: forbidden everywhere: an update is one step on memory.

shared int x;

thread p {
  fetch_add(x, 1);
}

thread q {
  fetch_add(x, 1);
}

final exists (x == 1);
