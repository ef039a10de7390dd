// CLH queue lock for two threads with one critical section each, with relaxed accesses.
// Source: Craig 1993; Magnusson, Landin, Hagersten 1994. Twin: waiting/clh-once.fp.
// Expected: SC, TSO verified. PSO violated (assertion, use after free): the release may become
// visible before the balance. As in the twin, a relaxed exchange does not wait for `locked = 1`, so
// the other thread may enter at once and free the node before the store reaches it.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct clh_node {
	atomic_int locked;
};

struct clh_lock {
	_Atomic(struct clh_node *) tail;
};

static struct clh_lock lock;
static int balance;

static void clh_init(struct clh_lock *l)
{
	struct clh_node *first = malloc(sizeof *first);

	if (first == NULL)
		abort();
	atomic_init(&first->locked, 0);
	atomic_init(&l->tail, first);
}

/* Returns the node of the predecessor, which nobody else uses any more. */
static struct clh_node *clh_lock(struct clh_lock *l, struct clh_node *me)
{
	struct clh_node *before;

	atomic_store_explicit(&me->locked, 1, memory_order_relaxed);
	before = atomic_exchange_explicit(&l->tail, me, memory_order_relaxed);
	while (atomic_load_explicit(&before->locked, memory_order_relaxed))
		;
	return before;
}

static void clh_unlock(struct clh_node *me)
{
	atomic_store_explicit(&me->locked, 0, memory_order_relaxed);
}

static void *deposit(void *arg)
{
	struct clh_node *me = malloc(sizeof(struct clh_node));
	struct clh_node *before;

	if (me == NULL)
		abort();
	before = clh_lock(&lock, me);
	balance += (int)(long)arg;
	clh_unlock(me);
	free(before);
	return NULL;
}

int main(void)
{
	pthread_t t1, t2;

	clh_init(&lock);
	pthread_create(&t1, NULL, deposit, (void *)1);
	pthread_create(&t2, NULL, deposit, (void *)2);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	assert(balance == 3);
	free(atomic_load(&lock.tail));
	return 0;
}
