// Michael and Scott's lock-free queue: one thread enqueues, the other dequeues.
// Source: Michael, Scott 1996, Simple, fast, and practical non-blocking and blocking concurrent
// queue algorithms. Nodes are never freed. Twin: orders/ms-queue.fp, client e|d.
// Expected: SC, TSO, PSO, ARM verified. See ms-queue.c for larger clients.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct node {
	_Atomic(struct node *) next;
	int value;
};

static _Atomic(struct node *) head, tail;

static struct node *get(_Atomic(struct node *) *place)
{
	return atomic_load_explicit(place, memory_order_acquire);
}

static bool swing(_Atomic(struct node *) *place, struct node *from, struct node *to)
{
	return atomic_compare_exchange_strong_explicit(place, &from, to, memory_order_acq_rel,
						       memory_order_acquire);
}

static struct node *make_node(int value)
{
	struct node *n = malloc(sizeof(*n));

	n->value = value;
	atomic_init(&n->next, NULL);
	return n;
}

static void enqueue(int value)
{
	struct node *n = make_node(value);
	struct node *t, *next;

	for (;;) {
		t = get(&tail);
		next = get(&t->next);
		if (t != get(&tail))
			continue;
		if (next == NULL) {
			if (swing(&t->next, NULL, n))
				break;
		} else {
			swing(&tail, t, next);
		}
	}
	swing(&tail, t, n);
}

/* Returns 0 if the queue is empty. */
static int dequeue(void)
{
	struct node *h, *t, *next;

	for (;;) {
		h = get(&head);
		t = get(&tail);
		next = get(&h->next);
		if (h != get(&head))
			continue;
		if (h == t) {
			if (next == NULL)
				return 0;
			swing(&tail, t, next);
		} else {
			int value = next->value;

			if (swing(&head, h, next))
				return value;
		}
	}
}

static void *enqueuer(void *arg)
{
	(void)arg;
	enqueue(1);
	return NULL;
}

static void *dequeuer(void *result)
{
	*(int *)result = dequeue();
	return NULL;
}

int main(void)
{
	pthread_t e, d;
	int got, rest;

	atomic_init(&head, make_node(0));
	atomic_init(&tail, head);
	pthread_create(&e, NULL, enqueuer, NULL);
	pthread_create(&d, NULL, dequeuer, &got);
	pthread_join(e, NULL);
	pthread_join(d, NULL);

	rest = dequeue();
	assert(got + rest == 1);
	assert(dequeue() == 0);
	return 0;
}
