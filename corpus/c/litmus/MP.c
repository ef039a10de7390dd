// MP: message passing with relaxed accesses.
// Source: Maranget, Sarkar, Sewell 2012. Twin: litmus/MP.fp.
// Expected: SC, TSO verified. PSO violated (assertion): the flag may become visible before the
// data.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int data, flag;
static int r0, r1;

static void *thread0(void *arg)
{
	(void)arg;
	atomic_store_explicit(&data, 1, memory_order_relaxed);
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	return NULL;
}

static void *thread1(void *arg)
{
	(void)arg;
	r0 = atomic_load_explicit(&flag, memory_order_relaxed);
	r1 = atomic_load_explicit(&data, memory_order_relaxed);
	return NULL;
}

int main(void)
{
	pthread_t t0, t1;

	pthread_create(&t0, NULL, thread0, NULL);
	pthread_create(&t1, NULL, thread1, NULL);
	pthread_join(t0, NULL);
	pthread_join(t1, NULL);
	assert(!(r0 == 1 && r1 == 0));
	return 0;
}
