// A set as a sorted list whose links carry a mark in their lowest bit: one thread adds and removes
// a key, the other removes and adds it.
// Source: Harris 2001, A pragmatic implementation of non-blocking linked-lists; in the form of
// Vechev and Yahav 2008, whose remover unlinks the node itself. Twin: structures/vyset.fp, client
// ar|ra (which uses two keys).
// Expected: SC, TSO, PSO verified, without a data race. The twin, which has no orders, is violated
// under PSO: a node may be in the list before its key or its link is visible.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct node {
	int key;
	atomic_uintptr_t next; /* address of the next node; bit 0: this node is being removed */
};

#define MARK ((uintptr_t)1)

static struct node tail_node = { .key = 100 };
static struct node head_node = { .key = -100 };
static struct node nodes[2];

static inline struct node *address(uintptr_t link)
{
	return (struct node *)(link & ~MARK);
}

static inline uintptr_t clean(struct node *n)
{
	return (uintptr_t)n;
}

static struct node *find(int key, struct node **pred)
{
	struct node *curr;

	*pred = &head_node;
	curr = address(atomic_load_explicit(&(*pred)->next, memory_order_acquire));
	while (curr->key < key) {
		*pred = curr;
		curr = address(atomic_load_explicit(&curr->next, memory_order_acquire));
	}
	return curr;
}

static bool add(struct node *n, int key)
{
	struct node *pred, *curr;
	uintptr_t expected;

	n->key = key;
	do {
		curr = find(key, &pred);
		if (curr->key == key)
			return false;
		atomic_store_explicit(&n->next, clean(curr), memory_order_relaxed);
		expected = clean(curr);
	} while (!atomic_compare_exchange_strong_explicit(&pred->next, &expected, clean(n),
							  memory_order_release,
							  memory_order_relaxed));
	return true;
}

static bool remove_key(int key)
{
	for (;;) {
		struct node *pred;
		struct node *curr = find(key, &pred);
		uintptr_t next, expected;

		if (curr->key != key)
			return false;
		next = atomic_load_explicit(&curr->next, memory_order_acquire);
		if (!atomic_compare_exchange_strong_explicit(&curr->next, &next, next | MARK,
							     memory_order_acq_rel,
							     memory_order_relaxed))
			continue;
		expected = clean(curr);
		if (atomic_compare_exchange_strong_explicit(&pred->next, &expected, next & ~MARK,
							    memory_order_release,
							    memory_order_relaxed))
			return true;
	}
}

static int balance[2]; /* number of keys that each thread added, less those it removed */

static void *add_remove(void *arg)
{
	(void)arg;
	balance[0] += add(&nodes[0], 5);
	balance[0] -= remove_key(5);
	return NULL;
}

static void *remove_add(void *arg)
{
	(void)arg;
	balance[1] -= remove_key(5);
	balance[1] += add(&nodes[1], 5);
	return NULL;
}

int main(void)
{
	struct node *pred;
	pthread_t a, b;
	int present;

	atomic_init(&head_node.next, clean(&tail_node));
	pthread_create(&a, NULL, add_remove, NULL);
	pthread_create(&b, NULL, remove_add, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	present = find(5, &pred)->key == 5;
	assert(balance[0] + balance[1] == present);
	assert((atomic_load(&head_node.next) & MARK) == 0);
	return 0;
}
