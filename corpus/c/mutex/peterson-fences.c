// Peterson's lock for two threads, entered once, with relaxed accesses and the two fences that PSO
// needs.
// Source: Peterson 1981, Myths about the mutual exclusion problem; the fences are those of [KVY11]
// Fig. 2, the first one weakened to a release fence. Twin: mutex/peterson2-kinds.fp (which enters
// repeatedly).
// Expected: SC, TSO, PSO verified. The release fence keeps `want` before `turn`; the other fence
// keeps both before the loads.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int want[2];
static atomic_int turn;
static int owner;

static void lock(int me)
{
	int other = 1 - me;

	atomic_store_explicit(&want[me], 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&turn, other, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	while (atomic_load_explicit(&want[other], memory_order_relaxed) &&
	       atomic_load_explicit(&turn, memory_order_relaxed) == other)
		;
}

static void unlock(int me)
{
	atomic_store_explicit(&want[me], 0, memory_order_release);
}

static void *worker(void *arg)
{
	int me = (int)(intptr_t)arg;

	lock(me);
	owner = me;
	assert(owner == me);
	unlock(me);
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, (void *)(intptr_t)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
