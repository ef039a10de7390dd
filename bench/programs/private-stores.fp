// Store buffering with K private stores between the store and the load of each thread.
// Source: store buffering with long buffers; the number of states under PSO and TSO grows with K.
// Expected: verified under SC, TSO and PSO: x[i] is visible before the other thread's is read.
// Without the fence: SC verified; TSO and PSO violated: both threads read 0.

const K = 8;

shared bool x[2];
shared int(0..=K) private[2];

thread p(i in 0..2) {
  x[i] = true;
  for (k = 1; k <= K; k++) private[i] = k;
  fence; // repair
  r = x[1 - i];
}

final never !p(0).r && !p(1).r;
