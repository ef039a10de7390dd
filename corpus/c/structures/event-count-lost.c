// An event count whose waiter checks the condition before it announces itself.
// Source: Reed, Kanodia 1979, with the error that they warn of. Twin: waiting/event-count-lost.fp.
// Expected: SC, TSO, PSO violated (hang): the waiter sees ready = false, the notifier sets it and
// finds no waiter, the waiter announces itself and waits forever.

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
	if (!load(&ready)) {
		store(&waiting, true);
		atomic_thread_fence(memory_order_seq_cst);
		while (load(&count) == key)
			;
	}
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
