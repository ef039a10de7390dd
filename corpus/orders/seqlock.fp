// A sequence lock with one writer: a reader gives up if the counter is odd or has changed.
// Source: Boehm 2012, Can seqlocks get along with programming language memory models?
// Expected: verified under every model.

shared u8 seq;
shared int(0..3) data[2];

thread writer {
  for (int k = 1; k < 3; k++) {
    u8 before = seq.load(relaxed);
    seq.store(before + 1, relaxed);
    fence release;
    data[0] = k;
    data[1] = k;
    seq.store(before + 2, release);
  }
}

thread reader {
  int copy[2];
  u8 first = seq.load(Ordering::Acquire);
  for (int k = 0; k < 2; k++) copy[k] = data[k].load(Ordering::Relaxed);
  fence acquire;
  u8 second = seq.load(Ordering::Relaxed);
  if (first == second && first % 2 == 0) assert(copy[0] == copy[1]);
}
