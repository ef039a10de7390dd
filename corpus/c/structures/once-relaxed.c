// Lazy initialisation with a hand-written call_once that publishes its end with a relaxed store.
// Source: the usual implementation of call_once, with one order weakened. Twin:
// orders/once-relaxed.fp.
// Expected: SC, TSO verified. PSO violated (assertion): the state may become visible before the
// data.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { EMPTY, BUSY, READY };

static atomic_int state;
static atomic_int runs;
static int data;

static void initialise(void)
{
	atomic_fetch_add_explicit(&runs, 1, memory_order_relaxed);
	data = 1;
}

static void call_once_by_hand(void (*function)(void))
{
	bool done = false;

	while (!done) {
		int expected = EMPTY;

		switch (atomic_load_explicit(&state, memory_order_acquire)) {
		case EMPTY:
			if (!atomic_compare_exchange_strong_explicit(&state, &expected, BUSY,
								     memory_order_acquire,
								     memory_order_relaxed))
				break;
			function();
			atomic_store_explicit(&state, READY, memory_order_relaxed);
			/* fall through */
		case READY:
			done = true;
			break;
		case BUSY:
			while (atomic_load_explicit(&state, memory_order_relaxed) == BUSY)
				;
			break;
		}
	}
}

static void *user(void *arg)
{
	(void)arg;
	call_once_by_hand(initialise);
	assert(data == 1);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, user, NULL);
	pthread_create(&b, NULL, user, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(atomic_load(&runs) == 1);
	return 0;
}
