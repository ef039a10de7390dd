// Vyukov's bounded queue with two producers, and one consumer that is the main thread.
// Source: Vyukov's bounded MPMC queue (1024cores.net), with its memory orders, in our words. See
// orders/mpmc-queue.fp.
// Expected: SC, TSO, PSO verified. The producers compete for `enqueue_pos`; the consumer waits
// until it has both values.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_SIZE 2
#define BUFFER_MASK (BUFFER_SIZE - 1)
#define START ((size_t)-2) /* positions wrap around during the test */

struct cell {
	atomic_size_t sequence;
	int data;
};

struct mpmc_queue {
	struct cell buffer[BUFFER_SIZE];
	atomic_size_t enqueue_pos;
	atomic_size_t dequeue_pos;
};

static void mpmc_init(struct mpmc_queue *q)
{
	for (size_t i = 0; i < BUFFER_SIZE; i++)
		atomic_init(&q->buffer[i].sequence, START + i);
	atomic_init(&q->enqueue_pos, START);
	atomic_init(&q->dequeue_pos, START);
}

static bool mpmc_enqueue(struct mpmc_queue *q, int data)
{
	size_t pos = atomic_load_explicit(&q->enqueue_pos, memory_order_relaxed);
	struct cell *cell;

	for (;;) {
		cell = &q->buffer[pos & BUFFER_MASK];
		size_t seq = atomic_load_explicit(&cell->sequence, memory_order_acquire);
		intptr_t dif = (intptr_t)(seq - pos);

		if (dif == 0) {
			if (atomic_compare_exchange_weak_explicit(&q->enqueue_pos, &pos, pos + 1,
								  memory_order_relaxed,
								  memory_order_relaxed))
				break;
		} else if (dif < 0) {
			return false;
		} else {
			pos = atomic_load_explicit(&q->enqueue_pos, memory_order_relaxed);
		}
	}
	cell->data = data;
	atomic_store_explicit(&cell->sequence, pos + 1, memory_order_release);
	return true;
}

static bool mpmc_dequeue(struct mpmc_queue *q, int *data)
{
	size_t pos = atomic_load_explicit(&q->dequeue_pos, memory_order_relaxed);
	struct cell *cell;

	for (;;) {
		cell = &q->buffer[pos & BUFFER_MASK];
		size_t seq = atomic_load_explicit(&cell->sequence, memory_order_acquire);
		intptr_t dif = (intptr_t)(seq - (pos + 1));

		if (dif == 0) {
			if (atomic_compare_exchange_weak_explicit(&q->dequeue_pos, &pos, pos + 1,
								  memory_order_relaxed,
								  memory_order_relaxed))
				break;
		} else if (dif < 0) {
			return false;
		} else {
			pos = atomic_load_explicit(&q->dequeue_pos, memory_order_relaxed);
		}
	}
	*data = cell->data;
	atomic_store_explicit(&cell->sequence, pos + BUFFER_SIZE, memory_order_release);
	return true;
}

static struct mpmc_queue queue;

static void *producer(void *arg)
{
	while (!mpmc_enqueue(&queue, *(int *)arg))
		;
	return NULL;
}

int main(void)
{
	int values[2] = { 5, 6 };
	pthread_t t[2];
	int sum = 0;

	mpmc_init(&queue);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, producer, &values[i]);
	for (int i = 0; i < 2; i++) {
		int value;

		while (!mpmc_dequeue(&queue, &value))
			;
		assert(value == 5 || value == 6);
		sum += value;
	}
	assert(sum == 11);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}
