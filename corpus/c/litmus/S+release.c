// S with a release store.
// Source: Maranget, Sarkar, Sewell 2012. Twin: litmus/S+ss+po.fp.
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int r0;

static void *thread0(void *arg)
{
	(void)arg;
	atomic_store_explicit(&x, 2, memory_order_relaxed);
	atomic_store_explicit(&y, 1, memory_order_release);
	return NULL;
}

static void *thread1(void *arg)
{
	(void)arg;
	r0 = atomic_load_explicit(&y, memory_order_acquire);
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	return NULL;
}

int main(void)
{
	pthread_t t0, t1;

	pthread_create(&t0, NULL, thread0, NULL);
	pthread_create(&t1, NULL, thread1, NULL);
	pthread_join(t0, NULL);
	pthread_join(t1, NULL);
	assert(!(r0 == 1 && x == 2));
	return 0;
}
