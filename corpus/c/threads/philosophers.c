// Three dining philosophers who take their left fork first.
// Source: Dijkstra 1971, Hierarchical ordering of sequential processes.
// Expected: SC, TSO, PSO violated (hang): each holds one fork and waits for the next.

#include <assert.h>
#include <pthread.h>

#define N 3

static pthread_mutex_t fork_mutex[N];
static int meals[N];

static void *philosopher(void *arg)
{
	int i = (int)(long)arg;
	int first = i, second = (i + 1) % N;

	pthread_mutex_lock(&fork_mutex[first]);
	pthread_mutex_lock(&fork_mutex[second]);
	meals[i]++;
	pthread_mutex_unlock(&fork_mutex[second]);
	pthread_mutex_unlock(&fork_mutex[first]);
	return NULL;
}

int main(void)
{
	pthread_t t[N];
	long i;

	for (i = 0; i < N; i++)
		pthread_mutex_init(&fork_mutex[i], NULL);
	for (i = 0; i < N; i++)
		pthread_create(&t[i], NULL, philosopher, (void *)i);
	for (i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < N; i++)
		assert(meals[i] == 1);
	return 0;
}
