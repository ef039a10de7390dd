// A thread publishes the address of a local variable and returns from the function too early.
// Source: the usual error.
// Expected: SC, TSO, PSO violated (ended lifetime): the reader may have loaded the pointer before it
// is withdrawn.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic(int *) shared;

static void publish(void)
{
	int message = 1;

	atomic_store(&shared, &message);
	atomic_store(&shared, NULL);
}

static void *writer(void *arg)
{
	(void)arg;
	publish();
	return NULL;
}

static void *reader(void *arg)
{
	int *p = atomic_load(&shared);

	(void)arg;
	if (p)
		assert(*p == 1);
	return NULL;
}

int main(void)
{
	pthread_t w, r;

	pthread_create(&w, NULL, writer, NULL);
	pthread_create(&r, NULL, reader, NULL);
	pthread_join(w, NULL);
	pthread_join(r, NULL);
	return 0;
}
