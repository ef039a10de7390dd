// Threads that are created in a loop get a pointer to the loop variable.
// Source: the usual error.
// Expected: SC, TSO, PSO violated (assertion or out of bounds), with a data race: a thread reads
// the variable after main has incremented it.

#include <assert.h>
#include <pthread.h>

#define N 2

static int started[N];

static void *run(void *arg)
{
	int id = *(int *)arg;

	started[id] = 1;
	return NULL;
}

int main(void)
{
	pthread_t t[N];
	int i;

	for (i = 0; i < N; i++)
		pthread_create(&t[i], NULL, run, &i);
	for (int k = 0; k < N; k++)
		pthread_join(t[k], NULL);
	assert(started[0] && started[1]);
	return 0;
}
