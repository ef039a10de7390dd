// Vyukov's bounded queue with a relaxed publication: one thread enqueues twice, one thread tries to
// dequeue twice.
// Source: Vyukov's bounded MPMC queue (1024cores.net), with one order weakened. Twin:
// orders/mpmc-queue-relaxed.fp, clients ee|d and e|dd.
// Expected: SC, TSO verified. PSO violated (assertion): the sequence number may become visible
// before the data, and the consumer gets 0.

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
	atomic_store_explicit(&cell->sequence, pos + 1, memory_order_relaxed);
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
	(void)arg;
	mpmc_enqueue(&queue, 1);
	mpmc_enqueue(&queue, 2);
	return NULL;
}

static void *consumer(void *arg)
{
	int value, last = 0;

	(void)arg;
	for (int i = 0; i < 2; i++)
		if (mpmc_dequeue(&queue, &value)) {
			assert(value == last + 1);
			last = value;
		}
	return NULL;
}

int main(void)
{
	pthread_t p, c;

	mpmc_init(&queue);
	pthread_create(&p, NULL, producer, NULL);
	pthread_create(&c, NULL, consumer, NULL);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	return 0;
}
