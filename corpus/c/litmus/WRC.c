// WRC: write-to-read causality with relaxed accesses.
// Source: Boehm, Adve 2008. Twin: litmus/WRC.fp.
// Expected: SC, TSO, PSO verified: a store becomes visible to all other threads at once. (C11 and
// RMO allow the outcome.)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int r0, r1, r2;

static void *thread0(void *arg)
{
	(void)arg;
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	return NULL;
}

static void *thread1(void *arg)
{
	(void)arg;
	r0 = atomic_load_explicit(&x, memory_order_relaxed);
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	return NULL;
}

static void *thread2(void *arg)
{
	(void)arg;
	r1 = atomic_load_explicit(&y, memory_order_relaxed);
	r2 = atomic_load_explicit(&x, memory_order_relaxed);
	return NULL;
}

int main(void)
{
	pthread_t t0, t1, t2;

	pthread_create(&t0, NULL, thread0, NULL);
	pthread_create(&t1, NULL, thread1, NULL);
	pthread_create(&t2, NULL, thread2, NULL);
	pthread_join(t0, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	assert(!(r0 == 1 && r1 == 1 && r2 == 0));
	return 0;
}
