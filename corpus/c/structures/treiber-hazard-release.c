// Treiber's stack with hazard pointers that are set with a release store: two threads pop, and free
// what they popped.
// Source: Michael 2004, Hazard pointers: safe memory reclamation for lock-free objects; the fence
// that the paper requires after the store is missing.
// Expected: SC verified. TSO, PSO violated (use after free): the hazard pointer is still pending
// when `top` is loaded again. The other thread does not see it and frees the node.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define THREADS 2

struct node {
	struct node *next;
	int value;
};

struct record {
	_Atomic(struct node *) hazard;
	struct node *retired; /* a node that could not be freed yet */
};

static _Atomic(struct node *) top;
static struct record records[THREADS];

static void push(int value)
{
	struct node *n = malloc(sizeof(struct node));

	n->value = value;
	n->next = atomic_load(&top);
	while (!atomic_compare_exchange_weak(&top, &n->next, n))
		;
}

static void retire(int me, struct node *n)
{
	for (int i = 0; i < THREADS; i++) {
		if (i != me && atomic_load(&records[i].hazard) == n) {
			records[me].retired = n;
			return;
		}
	}
	free(n);
}

static int pop(int me)
{
	struct node *t, *next;
	int value;

	for (;;) {
		t = atomic_load(&top);
		if (t == NULL)
			return 0;
		atomic_store_explicit(&records[me].hazard, t, memory_order_release);
		if (atomic_load(&top) != t)
			continue;
		next = t->next;
		if (atomic_compare_exchange_strong(&top, &t, next))
			break;
	}
	atomic_store_explicit(&records[me].hazard, NULL, memory_order_release);
	value = t->value;
	retire(me, t);
	return value;
}

static void *popper(void *arg)
{
	long me = (long)arg;

	return (void *)(long)pop((int)me);
}

int main(void)
{
	pthread_t t[THREADS];
	void *value[THREADS];

	push(1);
	push(2);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, popper, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], &value[i]);
	assert((long)value[0] + (long)value[1] == 3);
	for (int i = 0; i < THREADS; i++)
		free(records[i].retired);
	return 0;
}
