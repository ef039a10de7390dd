// Treiber's stack with relaxed accesses: one thread pushes and pops, the other pops and pushes.
// Source: Treiber 1986. Nodes are never freed, so an address is never reused. Twin:
// structures/treiber.fp, client pt|tp.
// Expected: SC, TSO verified, with data races on the fields of a node: relaxed accesses do not
// synchronise. PSO violated, as the twin: a relaxed compare-and-swap does not wait for stores to
// other locations, so a node may be published before its value and its link are visible.

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
static int seen[3]; /* how often each value was popped */

static void push(int value)
{
	struct node *n = malloc(sizeof(*n));

	n->value = value;
	n->next = atomic_load_explicit(&top, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&top, &n->next, n, memory_order_relaxed,
						      memory_order_relaxed))
		;
}

static int pop(void)
{
	struct node *t = atomic_load_explicit(&top, memory_order_relaxed);

	while (t != NULL && !atomic_compare_exchange_weak_explicit(&top, &t, t->next,
								   memory_order_relaxed,
								   memory_order_relaxed))
		;
	return t == NULL ? 0 : t->value;
}

static void *push_pop(void *result)
{
	push(1);
	*(int *)result = pop();
	return NULL;
}

static void *pop_push(void *result)
{
	*(int *)result = pop();
	push(2);
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	int from_a, from_b, rest;

	pthread_create(&a, NULL, push_pop, &from_a);
	pthread_create(&b, NULL, pop_push, &from_b);
	pthread_join(a, NULL);
	pthread_join(b, NULL);

	assert(from_b != 2);
	seen[from_a]++;
	seen[from_b]++;
	while ((rest = pop()) != 0)
		seen[rest]++;
	assert(seen[1] == 1 && seen[2] == 1);
	return 0;
}
