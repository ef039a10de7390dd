// Treiber's stack of nodes in an array with a version number beside the top, against the ABA
// problem.
// Source: Treiber 1986; IBM System/370 Extended Architecture, Principles of Operation, 1983.
// Expected: SC, TSO, PSO verified: every change of the top changes its version. See treiber-aba.c.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define NIL 0

union head {
	struct {
		uint16_t index;
		uint16_t version;
	};
	uint32_t word;
};

struct node {
	atomic_int next;
};

static struct node pool[3];
static _Atomic uint32_t top;
static atomic_int held[3];

static uint32_t successor(union head old, int index)
{
	union head h;

	h.index = (uint16_t)index;
	h.version = (uint16_t)(old.version + 1);
	return h.word;
}

static void push(int n)
{
	union head old;

	atomic_store(&held[n], 0);
	old.word = atomic_load_explicit(&top, memory_order_relaxed);
	do {
		atomic_store_explicit(&pool[n].next, old.index, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&top, &old.word, successor(old, n),
							memory_order_release,
							memory_order_relaxed));
}

static int pop(void)
{
	union head old;
	int next;

	old.word = atomic_load_explicit(&top, memory_order_acquire);
	do {
		if (old.index == NIL)
			return NIL;
		next = atomic_load_explicit(&pool[old.index].next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&top, &old.word, successor(old, next),
							memory_order_acquire,
							memory_order_acquire));
	assert(atomic_exchange(&held[old.index], 1) == 0);
	return old.index;
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
