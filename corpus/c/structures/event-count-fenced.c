// An event count with the two fences that it needs.
// Source: Reed, Kanodia 1979. Twin: waiting/event-count-fenced.fp.
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_bool ready, waiting;
static atomic_uint count;

#define load(p) atomic_load_explicit((p), memory_order_relaxed)
#define store(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

static void *waiter(void *arg)
{
	unsigned key = load(&count);

	(void)arg;
	store(&waiting, true);
	atomic_thread_fence(memory_order_seq_cst);
	if (!load(&ready))
		while (load(&count) == key)
			;
	return NULL;
}

static void *notifier(void *arg)
{
	(void)arg;
	store(&ready, true);
	atomic_thread_fence(memory_order_seq_cst);
	if (load(&waiting))
		atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
	return NULL;
}

int main(void)
{
	pthread_t w, n;

	pthread_create(&w, NULL, waiter, NULL);
	pthread_create(&n, NULL, notifier, NULL);
	pthread_join(w, NULL);
	pthread_join(n, NULL);
	assert(ready);
	return 0;
}
