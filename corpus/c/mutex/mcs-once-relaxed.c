// MCS queue lock for two threads with one critical section each, with relaxed accesses.
// Source: Mellor-Crummey, Scott 1991. Twin: orders/mcs-relaxed.fp. See mcs-relaxed.c for a larger
// client.
// Expected: SC, TSO verified. PSO, ARM violated (assertion, hang): the store to `locked` that hands over
// the lock may become visible before the counter. As in the twin, a relaxed exchange does not wait
// for stores to other locations, so `locked = true` may overwrite the handover: a hang.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct mcs_node {
	_Atomic(struct mcs_node *) next;
	atomic_bool locked;
};

static _Atomic(struct mcs_node *) tail;
static int counter;

static void mcs_lock(struct mcs_node *me)
{
	struct mcs_node *before;

	atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
	atomic_store_explicit(&me->locked, true, memory_order_relaxed);
	before = atomic_exchange_explicit(&tail, me, memory_order_relaxed);
	if (before != NULL) {
		atomic_store_explicit(&before->next, me, memory_order_relaxed);
		while (atomic_load_explicit(&me->locked, memory_order_relaxed))
			;
	}
}

static void mcs_unlock(struct mcs_node *me)
{
	struct mcs_node *after = atomic_load_explicit(&me->next, memory_order_relaxed);

	if (after == NULL) {
		struct mcs_node *expected = me;

		if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL,
							    memory_order_relaxed,
							    memory_order_relaxed))
			return;
		while ((after = atomic_load_explicit(&me->next, memory_order_relaxed)) == NULL)
			;
	}
	atomic_store_explicit(&after->locked, false, memory_order_relaxed);
}

static void *worker(void *arg)
{
	struct mcs_node node;

	(void)arg;
	mcs_lock(&node);
	counter++;
	mcs_unlock(&node);
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(counter == 2);
	assert(atomic_load(&tail) == NULL);
	return 0;
}
