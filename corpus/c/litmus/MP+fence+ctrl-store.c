// MP+fence+ctrl-store: message passing; the reader tests the flag and stores before it loads the
// data.
// Source: own. Expected: SC, TSO, PSO verified. ARM violated (assertion): neither the branch nor the
// seq_cst store, which has release order, orders the load of the data after that of the flag.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int data, flag, seen;
static int r1 = 1;

static void *thread0(void *arg)
{
	(void)arg;
	atomic_store_explicit(&data, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	return NULL;
}

static void *thread1(void *arg)
{
	(void)arg;
	if (atomic_load_explicit(&flag, memory_order_relaxed)) {
		atomic_store(&seen, 1);
		r1 = atomic_load_explicit(&data, memory_order_relaxed);
	}
	return NULL;
}

int main(void)
{
	pthread_t t0, t1;

	pthread_create(&t0, NULL, thread0, NULL);
	pthread_create(&t1, NULL, thread1, NULL);
	pthread_join(t0, NULL);
	pthread_join(t1, NULL);
	assert(r1 == 1);
	return 0;
}
