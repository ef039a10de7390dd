// Thread-local variables: each thread counts for itself, with _Thread_local, __thread and a static
// local variable.
// Source: written for this corpus.
// Expected: SC, TSO, PSO verified, without a data race.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Thread_local int calls = 10;
static __thread int *last;
static atomic_int total;

static int next_id(void)
{
	static _Thread_local int id;

	return ++id;
}

static void count(int *where)
{
	calls++;
	last = where;
	atomic_fetch_add_explicit(&total, 1, memory_order_relaxed);
}

static void *worker(void *arg)
{
	int times = (int)(long)arg;
	int here = 0;

	assert(last == NULL);
	for (int i = 0; i < times; i++)
		count(&here);
	assert(calls == 10 + times);
	assert(last == &here);
	assert(next_id() == 1 && next_id() == 2);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	assert(next_id() == 1);
	pthread_create(&a, NULL, worker, (void *)1L);
	pthread_create(&b, NULL, worker, (void *)2L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(calls == 10 && last == NULL);
	assert(next_id() == 2);
	assert(total == 3);
	return 0;
}
