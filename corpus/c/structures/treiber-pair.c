// Treiber's stack: one thread pushes, the other pops.
// Source: Treiber 1986. Nodes are never freed, so an address is never reused. Twin:
// orders/treiber.fp, client p|t.
// Expected: SC, TSO, PSO, ARM verified: the release in push comes before the acquire in pop. See
// treiber-leak.c for a larger client.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct node {
	struct node *next;
	int value;
};

static _Atomic(struct node *) top;

static void push(int value)
{
	struct node *n = malloc(sizeof(*n));
	struct node *t;

	n->value = value;
	do {
		t = atomic_load_explicit(&top, memory_order_relaxed);
		n->next = t;
	} while (!atomic_compare_exchange_strong_explicit(&top, &t, n, memory_order_release,
							  memory_order_relaxed));
}

static int pop(void)
{
	struct node *t;

	do {
		t = atomic_load_explicit(&top, memory_order_acquire);
		if (t == NULL)
			return 0;
	} while (!atomic_compare_exchange_strong_explicit(&top, &t, t->next, memory_order_acquire,
							  memory_order_relaxed));
	return t->value;
}

static void *pusher(void *arg)
{
	(void)arg;
	push(1);
	return NULL;
}

static void *popper(void *result)
{
	*(int *)result = pop();
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	int popped, rest;

	pthread_create(&a, NULL, pusher, NULL);
	pthread_create(&b, NULL, popper, &popped);
	pthread_join(a, NULL);
	pthread_join(b, NULL);

	rest = pop();
	assert(popped + rest == 1);
	assert(pop() == 0);
	return 0;
}
