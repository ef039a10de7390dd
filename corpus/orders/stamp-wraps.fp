// A 64-bit time stamp that wraps from 18446744073709551615 to 0. The reader compares stamps by their
// signed distance, so it sees that 0 is newer. The writer publishes the stamp with a relaxed store.
// Source: serial number arithmetic as in RFC 1982, written for this corpus.
// Expected: SC and TSO verified: stores become visible in order. PSO and RMO violated: the stamp may
// become visible before the data.

const LAST = 0xffffffffffffffff;

shared u64 stamp = LAST;
shared bool data;

thread writer {
  data = true;
  stamp.store(stamp + 1, relaxed);
}

thread reader {
  u64 now = stamp.load(acquire);
  i64 distance = now - LAST;
  assert(now == LAST || now < LAST);
  if (distance > 0) assert(data);
}

final forall stamp == 0;
