/* Stands in for GenMC's header in tests: GenMC 0.11 declares the parameter as bool. With RANDOM_DELAYS, accesses
   to atomic variables wait for a random number of other threads' turns, so that a race has all its results. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

void __VERIFIER_assume(bool);

#if defined(RANDOM_DELAYS)
#include <sched.h>
#include <time.h>
void __VERIFIER_assume(bool condition) {
  if (!condition) exit(0);
}
static void delay(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  for (long turns = now.tv_nsec / 64 % 32; turns > 0; turns--) sched_yield();
}
#undef atomic_load
#undef atomic_store
#define atomic_load(at) (delay(), atomic_load_explicit(at, memory_order_seq_cst))
#define atomic_store(at, value) (delay(), atomic_store_explicit(at, value, memory_order_seq_cst))
#endif
