// A spinlock that is taken with compare-and-exchange, for two threads, two entries each.
// Source: folklore; Anderson 1990, The performance of spin lock alternatives. Twin:
// mutex/tas-data1.fp (one entry each).
// Expected: SC, TSO, PSO verified: the release store makes the counter visible before the lock.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define THREADS 2
#define ROUNDS 2

struct spinlock {
	atomic_int locked;
};

static struct spinlock lock = { 0 };
static int counter;

static void spin_acquire(struct spinlock *l)
{
	int expected = 0;

	while (!atomic_compare_exchange_weak_explicit(&l->locked, &expected, 1,
						      memory_order_acquire,
						      memory_order_relaxed))
		expected = 0;
}

static void spin_release(struct spinlock *l)
{
	atomic_store_explicit(&l->locked, 0, memory_order_release);
}

static void *increment(void *unused)
{
	(void)unused;
	for (int k = 0; k < ROUNDS; k++) {
		spin_acquire(&lock);
		counter++;
		spin_release(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, increment, NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(counter == THREADS * ROUNDS);
	return 0;
}
