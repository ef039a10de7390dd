// CoRR: two loads of one location see its stores in order.
// Source: Maranget, Sarkar, Sewell 2012. Twin: litmus/CoRR.fp.
// Expected: SC, TSO, PSO verified: every model is coherent.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;
static int r0, r1;

static void *thread0(void *arg)
{
	(void)arg;
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	atomic_store_explicit(&x, 2, memory_order_relaxed);
	return NULL;
}

static void *thread1(void *arg)
{
	(void)arg;
	r0 = atomic_load_explicit(&x, memory_order_relaxed);
	r1 = atomic_load_explicit(&x, memory_order_relaxed);
	return NULL;
}

int main(void)
{
	pthread_t t0, t1;

	pthread_create(&t0, NULL, thread0, NULL);
	pthread_create(&t1, NULL, thread1, NULL);
	pthread_join(t0, NULL);
	pthread_join(t1, NULL);
	assert(r0 <= r1);
	return 0;
}
