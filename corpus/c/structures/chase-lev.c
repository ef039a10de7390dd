// Chase and Lev's work-stealing queue without fences: the owner pushes and takes, a thief steals.
// Source: Chase and Lev 2005, Dynamic circular work-stealing deque; [KVY10] Fig. 1. Twin:
// structures/chase-lev.fp with the client p(ptt|ss). The first array holds one task; the second
// push grows it while the thief runs.
// Expected: SC verified. TSO, PSO violated (assertion): the owner loads `top` while its store to
// `bottom` is pending, and takes a task that the thief steals, too. PSO also (division by zero):
// the new array may become visible before its size.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define TASKS 2
#define EMPTY (-1)
#define ABORT (-2)

struct array {
	long size;
	atomic_int buffer[];
};

struct deque {
	atomic_long top, bottom;
	_Atomic(struct array *) array;
};

static struct deque deque;
static int executed[TASKS + 1];

static struct array *array_new(long size)
{
	struct array *a = calloc(1, sizeof(*a) + (size_t)size * sizeof(a->buffer[0]));

	a->size = size;
	return a;
}

static struct array *grow(struct deque *q, struct array *old, long t, long b)
{
	struct array *a = array_new(2 * old->size);

	for (long i = t; i < b; i++) {
		int x = atomic_load_explicit(&old->buffer[i % old->size], memory_order_relaxed);

		atomic_store_explicit(&a->buffer[i % a->size], x, memory_order_relaxed);
	}
	/* The old array is not freed: a thief may still read it. */
	atomic_store_explicit(&q->array, a, memory_order_relaxed);
	return a;
}

static void push(struct deque *q, int task)
{
	long b = atomic_load_explicit(&q->bottom, memory_order_relaxed);
	long t = atomic_load_explicit(&q->top, memory_order_relaxed);
	struct array *a = atomic_load_explicit(&q->array, memory_order_relaxed);

	if (b - t >= a->size - 1)
		a = grow(q, a, t, b);
	atomic_store_explicit(&a->buffer[b % a->size], task, memory_order_relaxed);
	atomic_store_explicit(&q->bottom, b + 1, memory_order_relaxed);
}

static int take(struct deque *q)
{
	long b = atomic_load_explicit(&q->bottom, memory_order_relaxed) - 1;
	struct array *a = atomic_load_explicit(&q->array, memory_order_relaxed);
	long t;
	int task;

	atomic_store_explicit(&q->bottom, b, memory_order_relaxed);
	t = atomic_load_explicit(&q->top, memory_order_relaxed);
	if (t > b) {
		atomic_store_explicit(&q->bottom, b + 1, memory_order_relaxed);
		return EMPTY;
	}
	task = atomic_load_explicit(&a->buffer[b % a->size], memory_order_relaxed);
	if (t == b) {
		/* The last task: compete with the thieves. */
		if (!atomic_compare_exchange_strong_explicit(&q->top, &t, t + 1,
							     memory_order_seq_cst,
							     memory_order_relaxed))
			task = EMPTY;
		atomic_store_explicit(&q->bottom, b + 1, memory_order_relaxed);
	}
	return task;
}

static int steal(struct deque *q)
{
	long t = atomic_load_explicit(&q->top, memory_order_relaxed);
	long b;
	struct array *a;
	int task;

	b = atomic_load_explicit(&q->bottom, memory_order_relaxed);
	if (t >= b)
		return EMPTY;
	a = atomic_load_explicit(&q->array, memory_order_relaxed);
	task = atomic_load_explicit(&a->buffer[t % a->size], memory_order_relaxed);
	if (!atomic_compare_exchange_strong_explicit(&q->top, &t, t + 1, memory_order_seq_cst,
						     memory_order_relaxed))
		return ABORT;
	return task;
}

static void *thief(void *arg)
{
	int *stolen = arg;

	for (int i = 0; i < 2; i++)
		stolen[i] = steal(&deque);
	return NULL;
}

static void execute(int task)
{
	if (task == EMPTY || task == ABORT)
		return;
	assert(task >= 1 && task <= TASKS);
	executed[task]++;
}

int main(void)
{
	pthread_t t;
	int stolen[2], taken[2], rest;

	atomic_init(&deque.array, array_new(2));
	push(&deque, 1);
	pthread_create(&t, NULL, thief, stolen);
	push(&deque, 2); /* grows the array */
	taken[0] = take(&deque);
	taken[1] = take(&deque);
	pthread_join(t, NULL);

	for (int i = 0; i < 2; i++) {
		execute(stolen[i]);
		execute(taken[i]);
	}
	while ((rest = take(&deque)) != EMPTY)
		execute(rest);
	for (int i = 1; i <= TASKS; i++)
		assert(executed[i] == 1);
	return 0;
}
