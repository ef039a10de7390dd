// MCS queue lock for two threads with two critical sections each. Each thread has its node on its
// stack and reuses it.
// Source: Mellor-Crummey, Scott 1991. Twin: waiting/mcs.fp, which has no orders.
// Expected: SC, TSO, PSO verified. The exchange waits for the stores to the node, and the release
// store to `locked` hands over the counter.

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
	before = atomic_exchange_explicit(&tail, me, memory_order_acq_rel);
	if (before != NULL) {
		atomic_store_explicit(&before->next, me, memory_order_release);
		while (atomic_load_explicit(&me->locked, memory_order_acquire))
			;
	}
}

static void mcs_unlock(struct mcs_node *me)
{
	struct mcs_node *after = atomic_load_explicit(&me->next, memory_order_acquire);

	if (after == NULL) {
		struct mcs_node *expected = me;

		if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL,
							    memory_order_release,
							    memory_order_relaxed))
			return;
		while ((after = atomic_load_explicit(&me->next, memory_order_acquire)) == NULL)
			;
	}
	atomic_store_explicit(&after->locked, false, memory_order_release);
}

static void *worker(void *arg)
{
	struct mcs_node node;

	(void)arg;
	for (int k = 0; k < 2; k++) {
		mcs_lock(&node);
		counter++;
		mcs_unlock(&node);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(counter == 4);
	assert(atomic_load(&tail) == NULL);
	return 0;
}
