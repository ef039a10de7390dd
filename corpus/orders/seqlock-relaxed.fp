// A sequence lock with one writer, without the fences of writer and reader.
// Source: Boehm 2012, Can seqlocks get along with programming language memory models?
// Expected: SC and TSO verified. PSO violated: the data may become visible before the odd counter.
// RMO violated: the second load of the counter may also overtake the loads of the data.

shared u8 seq;
shared int(0..3) data[2];

thread writer {
  for (int k = 1; k < 3; k++) {
    u8 before = seq.load(relaxed);
    seq.store(before + 1, relaxed);
    data[0] = k;
    data[1] = k;
    seq.store(before + 2, release);
  }
}

thread reader {
  int copy[2];
  u8 first = seq.load(Ordering::Acquire);
  for (int k = 0; k < 2; k++) copy[k] = data[k].load(Ordering::Relaxed);
  u8 second = seq.load(Ordering::Relaxed);
  if (first == second && first % 2 == 0) assert(copy[0] == copy[1]);
}
