// Centralised sense-reversing barrier for two threads, passed twice, with a relaxed store to the
// sense.
// Source: Hensgen, Finkel, Manber 1988; Mellor-Crummey, Scott 1991; a benchmark of [KVY11]. Twin:
// mutex/sense0.fp (which passes it repeatedly).
// Expected: SC, TSO verified. PSO violated (hang): the sense may become visible before the count is
// reset. The other thread decrements 0, its decrement is overwritten, and both threads wait
// forever.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define N 2
#define PHASES 2

static atomic_int count = N;
static atomic_bool sense;
static atomic_int phase_of[N];

static void barrier_wait(bool *mine)
{
	*mine = !*mine;
	if (atomic_fetch_sub_explicit(&count, 1, memory_order_acq_rel) == 1) {
		atomic_store_explicit(&count, N, memory_order_relaxed);
		atomic_store_explicit(&sense, *mine, memory_order_relaxed);
	} else {
		while (atomic_load_explicit(&sense, memory_order_acquire) != *mine)
			;
	}
}

static void *worker(void *arg)
{
	int me = *(int *)arg;
	bool mine = false;

	for (int phase = 1; phase <= PHASES; phase++) {
		atomic_store_explicit(&phase_of[me], phase, memory_order_relaxed);
		barrier_wait(&mine);
		/* The other thread has begun this phase, and may have begun the next one. */
		assert(atomic_load_explicit(&phase_of[1 - me], memory_order_relaxed) >= phase);
	}
	return NULL;
}

int main(void)
{
	int id[N] = { 0, 1 };
	pthread_t t[N];

	for (int i = 0; i < N; i++)
		pthread_create(&t[i], NULL, worker, &id[i]);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	return 0;
}
