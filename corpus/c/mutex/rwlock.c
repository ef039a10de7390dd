// A reader-writer spinlock in one word, for one writer and two readers.
// Source: Mellor-Crummey, Scott 1991, Scalable reader-writer synchronization, the simple lock.
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define WRITER (-1)

static atomic_int state; /* number of readers, or WRITER */
static int pair[2];

static void read_lock(void)
{
	int s = atomic_load_explicit(&state, memory_order_relaxed);

	for (;;) {
		if (s == WRITER) {
			s = atomic_load_explicit(&state, memory_order_relaxed);
			continue;
		}
		if (atomic_compare_exchange_weak_explicit(&state, &s, s + 1, memory_order_acquire,
							  memory_order_relaxed))
			return;
	}
}

static void read_unlock(void)
{
	atomic_fetch_sub_explicit(&state, 1, memory_order_release);
}

static void write_lock(void)
{
	int expected;

	do {
		expected = 0;
	} while (!atomic_compare_exchange_weak_explicit(&state, &expected, WRITER,
							memory_order_acquire,
							memory_order_relaxed));
}

static void write_unlock(void)
{
	atomic_store_explicit(&state, 0, memory_order_release);
}

static void *reader(void *arg)
{
	(void)arg;
	read_lock();
	assert(pair[0] == pair[1]);
	read_unlock();
	return NULL;
}

static void *writer(void *arg)
{
	(void)arg;
	write_lock();
	pair[0]++;
	pair[1]++;
	write_unlock();
	return NULL;
}

int main(void)
{
	pthread_t r1, r2, w;

	pthread_create(&w, NULL, writer, NULL);
	pthread_create(&r1, NULL, reader, NULL);
	pthread_create(&r2, NULL, reader, NULL);
	pthread_join(w, NULL);
	pthread_join(r1, NULL);
	pthread_join(r2, NULL);
	assert(pair[0] == 1 && pair[1] == 1);
	assert(atomic_load(&state) == 0);
	return 0;
}
