// A ring buffer for one producer and one consumer, which keep their own indices: one slot, two items.
// Source: Lamport 1983, Specifying concurrent program modules; with the orders of C11. Twin:
// orders/spsc-ring.fp.
// Expected: SC, TSO, PSO, ARM verified. See spsc-ring.c for a larger client.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define CAPACITY 1
#define ITEMS 2

static atomic_uint head; /* next slot to read, written by the consumer */
static atomic_uint tail; /* next slot to write, written by the producer */
static int slot[CAPACITY];

static void put(unsigned index, int value)
{
	while (index - atomic_load_explicit(&head, memory_order_acquire) == CAPACITY)
		;
	slot[index % CAPACITY] = value;
	atomic_store_explicit(&tail, index + 1, memory_order_release);
}

static int get(unsigned index)
{
	int value;

	while (atomic_load_explicit(&tail, memory_order_acquire) == index)
		;
	value = slot[index % CAPACITY];
	atomic_store_explicit(&head, index + 1, memory_order_release);
	return value;
}

static void *producer(void *arg)
{
	(void)arg;
	for (int i = 0; i < ITEMS; i++)
		put(i, i + 1);
	return NULL;
}

static void *consumer(void *arg)
{
	(void)arg;
	for (int i = 0; i < ITEMS; i++)
		assert(get(i) == i + 1);
	return NULL;
}

int main(void)
{
	pthread_t p, c;

	pthread_create(&p, NULL, producer, NULL);
	pthread_create(&c, NULL, consumer, NULL);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	assert(head == tail);
	return 0;
}
