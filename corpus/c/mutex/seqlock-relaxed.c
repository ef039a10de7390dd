// A sequence lock with one writer and one reader, without the fences of writer and reader.
// Source: Boehm 2012, Can seqlocks get along with programming language memory models? Twin:
// orders/seqlock-relaxed.fp.
// Expected: SC, TSO verified. PSO violated (assertion): the data may become visible before the odd
// counter.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define UPDATES 2

static atomic_uint seq;
static atomic_int data[2];

static void *writer(void *arg)
{
	(void)arg;
	for (int k = 1; k <= UPDATES; k++) {
		unsigned before = atomic_load_explicit(&seq, memory_order_relaxed);

		atomic_store_explicit(&seq, before + 1, memory_order_relaxed);
		atomic_store_explicit(&data[0], k, memory_order_relaxed);
		atomic_store_explicit(&data[1], k, memory_order_relaxed);
		atomic_store_explicit(&seq, before + 2, memory_order_release);
	}
	return NULL;
}

static void *reader(void *arg)
{
	int copy[2];
	unsigned first, second;

	(void)arg;
	first = atomic_load_explicit(&seq, memory_order_acquire);
	for (int k = 0; k < 2; k++)
		copy[k] = atomic_load_explicit(&data[k], memory_order_relaxed);
	second = atomic_load_explicit(&seq, memory_order_relaxed);
	if (first == second && first % 2 == 0)
		assert(copy[0] == copy[1]);
	return NULL;
}

int main(void)
{
	pthread_t w, r;

	pthread_create(&w, NULL, writer, NULL);
	pthread_create(&r, NULL, reader, NULL);
	pthread_join(w, NULL);
	pthread_join(r, NULL);
	assert(seq == 2 * UPDATES);
	return 0;
}
