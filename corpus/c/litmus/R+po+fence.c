// R with a sequentially consistent fence between the store and the load only.
// Source: Maranget, Sarkar, Sewell 2012. Twin: litmus/R+po+full.fp.
// Expected: SC, TSO verified. PSO violated (assertion): the store to y may become visible before
// the one to x.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int r0;

static void *thread0(void *arg)
{
	(void)arg;
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	return NULL;
}

static void *thread1(void *arg)
{
	(void)arg;
	atomic_store_explicit(&y, 2, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	r0 = atomic_load_explicit(&x, memory_order_relaxed);
	return NULL;
}

int main(void)
{
	pthread_t t0, t1;

	pthread_create(&t0, NULL, thread0, NULL);
	pthread_create(&t1, NULL, thread1, NULL);
	pthread_join(t0, NULL);
	pthread_join(t1, NULL);
	assert(!(y == 2 && r0 == 0));
	return 0;
}
