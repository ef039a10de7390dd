// Treiber's stack of nodes in an array, which are pushed again after they were popped: the ABA
// problem.
// Source: Treiber 1986; the problem is described in IBM System/370 Extended Architecture,
// Principles of Operation, 1983.
// Expected: SC, TSO, PSO violated (assertion): `slow` reads top = 1 and next = 2. `fast` pops 1 and
// 2 and pushes 1 again. The compare-and-swap of `slow` succeeds and makes 2 the top, although
// `fast` still holds it; main pops it a second time.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define NIL 0

struct node {
	int next; /* index of the next node */
};

static struct node pool[3];
static atomic_int top;
static atomic_int held[3];

static void push(int n)
{
	int old = atomic_load(&top);

	atomic_store(&held[n], 0);
	do {
		pool[n].next = old;
	} while (!atomic_compare_exchange_weak(&top, &old, n));
}

static int pop(void)
{
	int old = atomic_load(&top);
	int next;

	do {
		if (old == NIL)
			return NIL;
		next = pool[old].next;
	} while (!atomic_compare_exchange_weak(&top, &old, next));
	assert(atomic_exchange(&held[old], 1) == 0);
	return old;
}

static void *slow(void *arg)
{
	(void)arg;
	pop();
	return NULL;
}

static void *fast(void *arg)
{
	int first;

	(void)arg;
	first = pop();
	pop();
	if (first != NIL)
		push(first);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	push(2);
	push(1);
	pthread_create(&a, NULL, slow, NULL);
	pthread_create(&b, NULL, fast, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	while (pop() != NIL)
		;
	return 0;
}
