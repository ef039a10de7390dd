// SB with the threads of C11.
// Source: Intel 2007, memory ordering white paper, example 2.3.a. Twin: litmus/SB.fp.
// Expected: SC verified. TSO, PSO violated (assertion).

#include <assert.h>
#include <stdatomic.h>
#include <threads.h>

static atomic_int x, y;

static int left(void *arg)
{
	(void)arg;
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	return atomic_load_explicit(&y, memory_order_relaxed);
}

static int right(void *arg)
{
	(void)arg;
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	return atomic_load_explicit(&x, memory_order_relaxed);
}

int main(void)
{
	thrd_t l, r;
	int seen_by_left, seen_by_right;

	if (thrd_create(&l, left, NULL) != thrd_success)
		return 1;
	if (thrd_create(&r, right, NULL) != thrd_success)
		return 1;
	thrd_join(l, &seen_by_left);
	thrd_join(r, &seen_by_right);
	assert(seen_by_left + seen_by_right > 0);
	return 0;
}
