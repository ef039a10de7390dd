// A counting semaphore with one slot: a store outside the range of the counter waits.
// Source: written for this corpus.
// Expected: verified under every model. The block that takes the slot waits until it is free.

shared int(0..2, block) slots = 1;
shared int(0..3) x;

thread p(i in 0..2) {
  atomic { slots = slots - 1; }
  critical { x = x + 1; }
  atomic { slots = slots + 1; }
}

property mutual_exclusion;
final forall x == 2;
