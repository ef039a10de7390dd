// A ring buffer for one producer and one consumer: two slots, three items.
// Source: Lamport 1983, Specifying concurrent program modules; with the orders of C11.
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define CAPACITY 2
#define ITEMS 3

struct ring {
	atomic_uint head; /* next slot to read, written by the consumer */
	atomic_uint tail; /* next slot to write, written by the producer */
	int slot[CAPACITY];
};

static struct ring ring;

static bool ring_put(struct ring *r, int value)
{
	unsigned tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	unsigned head = atomic_load_explicit(&r->head, memory_order_acquire);

	if (tail - head == CAPACITY)
		return false;
	r->slot[tail % CAPACITY] = value;
	atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
	return true;
}

static bool ring_get(struct ring *r, int *value)
{
	unsigned head = atomic_load_explicit(&r->head, memory_order_relaxed);
	unsigned tail = atomic_load_explicit(&r->tail, memory_order_acquire);

	if (head == tail)
		return false;
	*value = r->slot[head % CAPACITY];
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	return true;
}

static void *producer(void *arg)
{
	(void)arg;
	for (int i = 1; i <= ITEMS; i++)
		while (!ring_put(&ring, i))
			;
	return NULL;
}

static void *consumer(void *arg)
{
	(void)arg;
	for (int i = 1; i <= ITEMS; i++) {
		int value;

		while (!ring_get(&ring, &value))
			;
		assert(value == i);
	}
	return NULL;
}

int main(void)
{
	pthread_t p, c;

	pthread_create(&p, NULL, producer, NULL);
	pthread_create(&c, NULL, consumer, NULL);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	assert(ring.head == ring.tail);
	return 0;
}
