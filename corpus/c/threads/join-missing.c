// main checks a result without waiting for the thread that computes it.
// Source: the usual error.
// Expected: SC, TSO, PSO violated (assertion), with a data race.

#include <assert.h>
#include <pthread.h>

static int result;

static void *compute(void *arg)
{
	result = 6 * *(int *)arg;
	return NULL;
}

int main(void)
{
	static int seven = 7;
	pthread_t t;

	pthread_create(&t, NULL, compute, &seven);
	pthread_detach(t);
	assert(result == 42);
	return 0;
}
