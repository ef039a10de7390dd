// Dekker's lock for two threads, entered once, with GCC's __atomic builtins and seq_cst accesses.
// Source: Dekker, in Dijkstra 1965, Cooperating sequential processes. Twin: mutex/dekker2-once.fp.
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>

static int want[2];
static int turn;
static int in_critical;

#define LOAD(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

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
	assert(in_critical == 0);
	in_critical = 1;
	in_critical = 0;
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
