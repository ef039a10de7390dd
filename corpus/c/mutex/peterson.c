// Peterson's lock for two threads, entered once, with the default order of C11.
// Source: Peterson 1981, Myths about the mutual exclusion problem. Twin: mutex/peterson2-once.fp.
// Expected: SC, TSO, PSO verified: every store of `want` and `turn` is visible before the next
// load.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int want[2];
static atomic_int turn;
static int owner;
static int entries;

static void lock(int me)
{
	int other = 1 - me;

	atomic_store(&want[me], 1);
	atomic_store(&turn, other);
	while (atomic_load(&want[other]) && atomic_load(&turn) == other)
		;
}

static void unlock(int me)
{
	atomic_store(&want[me], 0);
}

static void *worker(void *arg)
{
	int me = (int)(intptr_t)arg;

	lock(me);
	owner = me;
	entries++;
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
	assert(entries == 2);
	return 0;
}
