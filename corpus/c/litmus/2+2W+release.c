// 2+2W with release stores.
// Source: Maranget, Sarkar, Sewell 2012. Twin: litmus/2+2W+ss+ss.fp.
// Expected: SC, TSO, PSO verified: a release store is ordered after earlier stores. (C11 allows the
// outcome.)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *thread0(void *arg)
{
	(void)arg;
	atomic_store_explicit(&x, 1, memory_order_release);
	atomic_store_explicit(&y, 2, memory_order_release);
	return NULL;
}

static void *thread1(void *arg)
{
	(void)arg;
	atomic_store_explicit(&y, 1, memory_order_release);
	atomic_store_explicit(&x, 2, memory_order_release);
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
