// Three threads increment a counter under a mutex that is initialised at run time.
// Source: written for this corpus.
// Expected: SC, TSO, PSO verified, without a data race.

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define THREADS 3

struct account {
	pthread_mutex_t mutex;
	int balance;
};

static void *deposit(void *arg)
{
	struct account *a = arg;

	pthread_mutex_lock(&a->mutex);
	a->balance += 10;
	pthread_mutex_unlock(&a->mutex);
	return NULL;
}

int main(void)
{
	struct account *a = malloc(sizeof *a);
	pthread_t t[THREADS];
	int i;

	if (pthread_mutex_init(&a->mutex, NULL) != 0)
		return 1;
	a->balance = 0;
	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, deposit, a);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	assert(a->balance == 10 * THREADS);
	pthread_mutex_destroy(&a->mutex);
	free(a);
	return 0;
}
