// A counter that is protected by a test-and-set lock, for two threads, entered once, with fences at
// the acquisition and at the release.
// Source: tas-data0 with the fences of The SPARC Architecture Manual 9, appendix J (spin
// locks).
// Expected: verified everywhere.

shared bool lock;
shared int(0..3) count;

thread p(i in 0..2) {
  do { taken = swap(lock, true); } while (taken);
  fence load_load;
  fence load_store;
  n = count;
  count = n + 1;
  fence store_store;
  fence load_store;
  lock = false;
}

final forall (count == 2);
