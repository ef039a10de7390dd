// Vyukov's bounded queue with two producers, and one consumer that is the main thread.
// Source: Vyukov's bounded MPMC queue (1024cores.net), with its memory orders, in our words. See
// orders/mpmc-queue.fp.
// Expected: SC, TSO, PSO verified. The producers compete for tickets; the consumer waits
// until it has both values.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOTS 2 /* a power of two */

/*
 * A slot whose turn is p may be filled by the producer with ticket p. A slot whose turn is p + 1
 * holds the value of ticket p.
 */
struct slot {
	atomic_size_t turn;
	int value;
};

struct mpmc {
	struct slot slots[SLOTS];
	atomic_size_t producers; /* the next ticket of a producer */
	atomic_size_t consumers; /* the next ticket of a consumer */
};

/* Tickets start shortly before their maximum, so they wrap around during the test. */
static const size_t first_ticket = SIZE_MAX - 1;

static void mpmc_init(struct mpmc *q)
{
	for (size_t k = 0; k < SLOTS; k++)
		atomic_init(&q->slots[(first_ticket + k) % SLOTS].turn, first_ticket + k);
	atomic_init(&q->producers, first_ticket);
	atomic_init(&q->consumers, first_ticket);
}

/*
 * Draws a ticket from `counter` as soon as its slot has reached the turn `ticket + ahead`. Returns
 * NULL if the slot is still behind: the queue is full or empty.
 */
static struct slot *claim(struct mpmc *q, atomic_size_t *counter, size_t ahead, size_t *ticket)
{
	*ticket = atomic_load_explicit(counter, memory_order_relaxed);
	while (true) {
		struct slot *s = &q->slots[*ticket % SLOTS];
		size_t turn = atomic_load_explicit(&s->turn, memory_order_acquire);
		ptrdiff_t lead = (ptrdiff_t)(turn - *ticket - ahead);

		if (lead < 0)
			return NULL;
		if (lead > 0)
			*ticket = atomic_load_explicit(counter, memory_order_relaxed);
		else if (atomic_compare_exchange_weak_explicit(counter, ticket, *ticket + 1,
							       memory_order_relaxed,
							       memory_order_relaxed))
			return s;
	}
}

static bool mpmc_put(struct mpmc *q, int value)
{
	size_t ticket;
	struct slot *s = claim(q, &q->producers, 0, &ticket);

	if (s == NULL)
		return false;
	s->value = value;
	atomic_store_explicit(&s->turn, ticket + 1, memory_order_release);
	return true;
}

static bool mpmc_get(struct mpmc *q, int *value)
{
	size_t ticket;
	struct slot *s = claim(q, &q->consumers, 1, &ticket);

	if (s == NULL)
		return false;
	*value = s->value;
	atomic_store_explicit(&s->turn, ticket + SLOTS, memory_order_release);
	return true;
}

static struct mpmc queue;

static void *producer(void *arg)
{
	while (!mpmc_put(&queue, *(int *)arg))
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

		while (!mpmc_get(&queue, &value))
			;
		assert(value == 5 || value == 6);
		sum += value;
	}
	assert(sum == 11);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}
