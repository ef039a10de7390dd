// Michael and Scott's lock-free queue with a test harness: a sequential test, then the clients
// ed|ed and ee|dd.
// Source: Michael, Scott 1996, Simple, fast, and practical non-blocking and blocking concurrent
// queue algorithms. Nodes are freed only when the queue is destroyed, so references need no counts.
// The rest is as published, including the second loads of head and tail. Twin:
// structures/msn-queue.fp, clients ed|ed and ee|dd, which has no orders.
// Expected: SC, TSO, PSO verified, without a data race.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------
 * The queue
 * ------------------------------------------------------------------------------------------- */

struct ms_node {
	int value;
	_Atomic(struct ms_node *) next;
};

struct ms_queue {
	_Atomic(struct ms_node *) head;
	_Atomic(struct ms_node *) tail;
	struct ms_node *first; /* the oldest node; all others are reachable from it */
};

static struct ms_node *ms_node_new(int value)
{
	struct ms_node *node = malloc(sizeof(*node));

	if (!node) {
		fprintf(stderr, "out of memory\n");
		exit(EXIT_FAILURE);
	}
	node->value = value;
	atomic_init(&node->next, NULL);
	return node;
}

static void ms_init(struct ms_queue *q)
{
	struct ms_node *dummy = ms_node_new(0);

	atomic_init(&q->head, dummy);
	atomic_init(&q->tail, dummy);
	q->first = dummy;
}

static void ms_destroy(struct ms_queue *q)
{
	struct ms_node *node = q->first;

	while (node != NULL) {
		struct ms_node *next = atomic_load_explicit(&node->next, memory_order_relaxed);

		free(node);
		node = next;
	}
	memset(q, 0, sizeof(*q));
}

static inline struct ms_node *get(_Atomic(struct ms_node *) *place)
{
	return atomic_load_explicit(place, memory_order_acquire);
}

static inline bool swing(_Atomic(struct ms_node *) *place, struct ms_node *from,
			 struct ms_node *to)
{
	return atomic_compare_exchange_strong_explicit(place, &from, to, memory_order_acq_rel,
						       memory_order_acquire);
}

static void ms_enqueue(struct ms_queue *q, int value)
{
	struct ms_node *node = ms_node_new(value);
	struct ms_node *tail, *next;

	for (;;) {
		tail = get(&q->tail);
		next = get(&tail->next);
		if (tail != get(&q->tail))
			continue;
		if (next == NULL) {
			if (swing(&tail->next, NULL, node))
				break;
		} else {
			/* The tail lags behind: help. */
			swing(&q->tail, tail, next);
		}
	}
	swing(&q->tail, tail, node);
}

static bool ms_dequeue(struct ms_queue *q, int *value)
{
	struct ms_node *head, *tail, *next;

	for (;;) {
		head = get(&q->head);
		tail = get(&q->tail);
		next = get(&head->next);
		if (head != get(&q->head))
			continue;
		if (head == tail) {
			if (next == NULL)
				return false;
			swing(&q->tail, tail, next);
		} else {
			/* The value must be read before another thread can dequeue `next`. */
			*value = next->value;
			if (swing(&q->head, head, next))
				return true;
		}
	}
}

static bool ms_empty(struct ms_queue *q)
{
	return get(&get(&q->head)->next) == NULL;
}

/* Returns the number of values, if the list is well-formed. */
static int ms_length(struct ms_queue *q)
{
	struct ms_node *node = get(&q->head);
	struct ms_node *last = NULL;
	int length = -1;

	for (; node != NULL; node = get(&node->next)) {
		last = node;
		length++;
	}
	assert(last == get(&q->tail));
	return length;
}

/* ---------------------------------------------------------------------------------------------
 * The harness
 * ------------------------------------------------------------------------------------------- */

#define MAX_OPS 2
#define MAX_VALUE 4
#define NOTHING (-1)

enum op_kind { OP_ENQUEUE, OP_DEQUEUE };

struct op {
	enum op_kind kind;
	int value; /* the value to enqueue, or the result */
};

struct client {
	pthread_t thread;
	struct ms_queue *queue;
	int count;
	struct op ops[MAX_OPS];
};

static void client_run(struct client *c)
{
	for (int i = 0; i < c->count; i++) {
		struct op *op = &c->ops[i];

		switch (op->kind) {
		case OP_ENQUEUE:
			ms_enqueue(c->queue, op->value);
			break;
		case OP_DEQUEUE: {
			int value;

			if (ms_dequeue(c->queue, &value))
				op->value = value;
			else
				op->value = NOTHING;
			break;
		}
		default:
			abort();
		}
	}
}

static void *client_main(void *arg)
{
	client_run(arg);
	return NULL;
}

/* "ed" with first value v enqueues v and then dequeues. */
static void client_init(struct client *c, struct ms_queue *q, const char *text, int value)
{
	c->queue = q;
	c->count = 0;
	for (; *text != '\0'; text++) {
		struct op *op = &c->ops[c->count++];

		op->kind = *text == 'e' ? OP_ENQUEUE : OP_DEQUEUE;
		op->value = *text == 'e' ? value++ : NOTHING;
	}
}

/* Marks a value as seen. A value is seen at most once, and only if it was enqueued. */
static void see(bool *seen, int value)
{
	assert(value >= 1 && value <= MAX_VALUE);
	assert(!seen[value]);
	seen[value] = true;
}

static void run_clients(const char *first, const char *second, int expected_total)
{
	struct ms_queue queue;
	struct client clients[2];
	bool seen[MAX_VALUE + 1] = { false };
	int total = 0, rest;

	ms_init(&queue);
	client_init(&clients[0], &queue, first, 1);
	client_init(&clients[1], &queue, second, 3);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&clients[i].thread, NULL, client_main, &clients[i]) != 0)
			exit(EXIT_FAILURE);
	for (int i = 0; i < 2; i++)
		pthread_join(clients[i].thread, NULL);

	for (int i = 0; i < 2; i++) {
		int last = 0;

		for (int k = 0; k < clients[i].count; k++) {
			struct op *op = &clients[i].ops[k];

			if (op->kind != OP_DEQUEUE || op->value == NOTHING)
				continue;
			see(seen, op->value);
			total++;
			/* Values of one producer leave in order. */
			if ((last < 3) == (op->value < 3))
				assert(op->value > last);
			last = op->value;
		}
	}

	assert(ms_length(&queue) == expected_total - total);
	while (ms_dequeue(&queue, &rest)) {
		see(seen, rest);
		total++;
	}
	assert(total == expected_total);
	assert(ms_empty(&queue));

	/* A thread that enqueues before it dequeues finds a value if all others do the same. */
	if (strcmp(first, "ed") == 0 && strcmp(second, "ed") == 0) {
		assert(clients[0].ops[1].value != NOTHING);
		assert(clients[1].ops[1].value != NOTHING);
	}
	ms_destroy(&queue);
}

static void test_sequential(void)
{
	struct ms_queue queue;
	int value;

	ms_init(&queue);
	assert(ms_empty(&queue));
	assert(!ms_dequeue(&queue, &value));
	for (int i = 1; i <= 3; i++)
		ms_enqueue(&queue, i);
	assert(ms_length(&queue) == 3);
	for (int i = 1; i <= 3; i++) {
		assert(ms_dequeue(&queue, &value));
		assert(value == i);
	}
	assert(!ms_dequeue(&queue, &value));
	ms_destroy(&queue);
	assert(queue.first == NULL);
}

int main(void)
{
	test_sequential();
	run_clients("ed", "ed", 2);
	run_clients("ee", "dd", 2);
	printf("ok\n");
	return EXIT_SUCCESS;
}
