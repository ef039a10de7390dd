/* Peterson's lock, without fences. */
#ifndef LOCK_H
#define LOCK_H
#include <stdatomic.h>

static atomic_int flag[2];
static atomic_int turn;

static inline void lock(int me)
{
	atomic_store_explicit(&flag[me], 1, memory_order_relaxed);
	atomic_store_explicit(&turn, 1 - me, memory_order_relaxed);
	while (atomic_load_explicit(&flag[1 - me], memory_order_relaxed) &&
	       atomic_load_explicit(&turn, memory_order_relaxed) == 1 - me)
		;
}

static inline void unlock(int me)
{
	atomic_store_explicit(&flag[me], 0, memory_order_relaxed);
}
#endif
