// Szymanski's lock for two threads, entered once, with two full fences per thread.
// Source: Szymanski 1988, A simple solution to Lamport's concurrent programming problem with linear
// wait; a benchmark of [Zac]. Twin: mutex/szymanski2-once.fp.
// Expected: SC, TSO, PSO verified. The data in the critical section is protected by the release
// store of `flag` at the end.

#include <assert.h>
#include <pthread.h>

enum state { OUTSIDE, WANTS, WAITS, IN_DOOR, CLOSED };

static int flag[2];
static int data;

static inline enum state get(int i)
{
	return __atomic_load_n(&flag[i], __ATOMIC_ACQUIRE);
}

static inline void set(int i, enum state s)
{
	__atomic_store_n(&flag[i], s, __ATOMIC_RELEASE);
}

static void *process(void *arg)
{
	int me = (int)(long)arg, other = 1 - me;
	int before;

	set(me, WANTS);
	__sync_synchronize();
	while (get(other) >= IN_DOOR)
		;
	set(me, IN_DOOR);
	__sync_synchronize();
	if (get(other) == WANTS) {
		set(me, WAITS);
		while (get(other) != CLOSED)
			;
	}
	set(me, CLOSED);
	if (me == 1) {
		while (get(0) >= WAITS)
			;
	}

	before = data;
	data = before + 1;
	assert(data == before + 1);

	if (me == 0) {
		enum state s;
		do {
			s = get(1);
		} while (s == WAITS || s == IN_DOOR);
	}
	set(me, OUTSIDE);
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	pthread_create(&t[0], NULL, process, (void *)0);
	pthread_create(&t[1], NULL, process, (void *)1);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	assert(data == 2);
	return 0;
}
