// Treiber's stack that frees a node right after it is popped.
// Source: Treiber 1986, with the usual error.
// Expected: SC, TSO, PSO violated (use after free): a thread loads `top`, the other thread pops and
// frees this node, and the first thread reads `next` in it.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
	struct node *next;
	int value;
};

static _Atomic(struct node *) top;

static void push(int value)
{
	struct node *n = malloc(sizeof *n);
	struct node *old;

	n->value = value;
	do {
		old = atomic_load(&top);
		n->next = old;
	} while (!atomic_compare_exchange_strong(&top, &old, n));
}

static int pop(void)
{
	struct node *t, *next;
	int value;

	do {
		t = atomic_load(&top);
		if (!t)
			return -1;
		next = t->next;
	} while (!atomic_compare_exchange_strong(&top, &t, next));
	value = t->value;
	free(t);
	return value;
}

static void *popper(void *arg)
{
	int value = pop();

	(void)arg;
	assert(value == 1 || value == 2);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	push(1);
	push(2);
	pthread_create(&a, NULL, popper, NULL);
	pthread_create(&b, NULL, popper, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(atomic_load(&top) == NULL);
	return 0;
}
