// Dekker's lock for two threads, entered once, with GCC's __atomic builtins and relaxed accesses.
// Source: Dekker, in Dijkstra 1965, Cooperating sequential processes; a benchmark of [KVY11],
// [KVY10], [LW10], [BM08] and [Zac]. Twin: mutex/dekker0-once.fp.
// Expected: SC verified. TSO, PSO violated (assertion): each thread reads the other's `want` as 0
// while its own store is pending.

#include <assert.h>
#include <pthread.h>

static int want[2];
static int turn;
static int in_critical;

#define LOAD(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)

static void dekker_lock(int me)
{
	const int other = !me;

	STORE(&want[me], 1);
	while (LOAD(&want[other])) {
		if (LOAD(&turn) == me)
			continue;
		STORE(&want[me], 0);
		while (LOAD(&turn) != me)
			;
		STORE(&want[me], 1);
	}
}

static void dekker_unlock(int me)
{
	STORE(&turn, !me);
	STORE(&want[me], 0);
}

static void *run(void *arg)
{
	int me = *(int *)arg;

	dekker_lock(me);
	assert(__atomic_fetch_add(&in_critical, 1, __ATOMIC_RELAXED) == 0);
	__atomic_fetch_sub(&in_critical, 1, __ATOMIC_RELAXED);
	dekker_unlock(me);
	return NULL;
}

int main(void)
{
	int ids[2] = { 0, 1 };
	pthread_t a, b;

	pthread_create(&a, NULL, run, &ids[0]);
	pthread_create(&b, NULL, run, &ids[1]);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
