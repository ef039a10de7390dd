// An event count whose waiter announces itself before it checks the condition, without fences.
// Source: Reed, Kanodia 1979. A notifier advances the count only if a waiter is announced. Twin:
// waiting/event-count.fp.
// Expected: SC verified. TSO, PSO violated (hang): both threads load before their stores are
// visible, so the waiter sees no event and the notifier sees no waiter.

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
	if (!load(&ready))
		while (load(&count) == key)
			;
	return NULL;
}

static void *notifier(void *arg)
{
	(void)arg;
	store(&ready, true);
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
