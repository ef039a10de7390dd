// Michael and Scott's lock-free queue with relaxed accesses, in the words of GCC's builtins: the
// client e|e|d, and main dequeues the rest.
// Source: Michael, Scott 1996, Simple, fast, and practical non-blocking and blocking concurrent
// queue algorithms. Nodes are never freed. Twin: structures/msn-queue.fp, client e|e|d.
// Expected: SC, TSO, PSO verified, with a data race on `value`: relaxed loads do not synchronise.
// DIVERGENCE from the twin, which is violated under PSO: `__sync_bool_compare_and_swap` is a full
// barrier, so a node is linked after its value and its link are visible.

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct node node_t;

struct node {
	node_t *next;
	int value;
};

static node_t *head, *tail;

#define READ(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define CAS(x, old, new) __sync_bool_compare_and_swap(&(x), (old), (new))

static node_t *make_node(int value)
{
	node_t *n = (node_t *)malloc(sizeof(node_t));

	n->value = value;
	n->next = NULL;
	return n;
}

static void enqueue(int value)
{
	node_t *n = make_node(value);
	node_t *t, *next;

	while (1) {
		t = READ(tail);
		next = READ(t->next);
		if (t != READ(tail))
			continue;
		if (next == NULL) {
			if (CAS(t->next, NULL, n))
				break;
		} else
			CAS(tail, t, next);
	}
	CAS(tail, t, n);
}

static int dequeue(void)
{
	node_t *h, *t, *next;
	int value;

	while (1) {
		h = READ(head);
		t = READ(tail);
		next = READ(h->next);
		if (h != READ(head))
			continue;
		if (h == t) {
			if (next == NULL)
				return -1;
			CAS(tail, t, next);
		} else {
			value = next->value;
			if (CAS(head, h, next))
				return value;
		}
	}
}

static void *enqueuer(void *arg)
{
	enqueue((int)(size_t)arg);
	return NULL;
}

static void *dequeuer(void *arg)
{
	*(int *)arg = dequeue();
	return NULL;
}

int main(void)
{
	pthread_t e1, e2, d;
	int sum = 0, got, rest;

	head = tail = make_node(0);
	pthread_create(&e1, NULL, enqueuer, (void *)1);
	pthread_create(&e2, NULL, enqueuer, (void *)2);
	pthread_create(&d, NULL, dequeuer, &got);
	pthread_join(e1, NULL);
	pthread_join(e2, NULL);
	pthread_join(d, NULL);
	assert(got == -1 || got == 1 || got == 2);
	if (got != -1)
		sum += got;
	while ((rest = dequeue()) != -1)
		sum += rest;
	assert(sum == 3);
	return 0;
}
