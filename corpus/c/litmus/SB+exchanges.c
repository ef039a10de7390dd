// SB whose stores are exchanges with relaxed order.
// Source: Intel 2007, memory ordering white paper, example 2.3.a. Twin: litmus/SB+swap+swap.fp.
// Expected: SC, TSO, PSO verified: a read-modify-write leaves no store pending.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int r0, r1;

static void *thread0(void *arg)
{
	(void)arg;
	atomic_exchange_explicit(&x, 1, memory_order_relaxed);
	r0 = atomic_load_explicit(&y, memory_order_relaxed);
	return NULL;
}

static void *thread1(void *arg)
{
	(void)arg;
	atomic_exchange_explicit(&y, 1, memory_order_relaxed);
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
	assert(r0 == 1 || r1 == 1);
	return 0;
}
