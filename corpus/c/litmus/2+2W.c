// 2+2W: two threads store to two locations in opposite order, relaxed.
// Source: Maranget, Sarkar, Sewell 2012. Twin: litmus/2+2W.fp.
// Expected: SC, TSO verified. PSO violated (assertion): stores to different locations may become
// visible in any order.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *thread0(void *arg)
{
	(void)arg;
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	atomic_store_explicit(&y, 2, memory_order_relaxed);
	return NULL;
}

static void *thread1(void *arg)
{
	(void)arg;
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	atomic_store_explicit(&x, 2, memory_order_relaxed);
	return NULL;
}

int main(void)
{
	pthread_t t0, t1;

	pthread_create(&t0, NULL, thread0, NULL);
	pthread_create(&t1, NULL, thread1, NULL);
	pthread_join(t0, NULL);
	pthread_join(t1, NULL);
	assert(!(x == 1 && y == 1));
	return 0;
}
