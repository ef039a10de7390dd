// Two threads increment a counter under different mutexes.
// Source: the usual error.
// Expected: SC, TSO, PSO violated (assertion), with a data race: an increment is lost.

#include <assert.h>
#include <pthread.h>

static pthread_mutex_t red = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t blue = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *arg)
{
	pthread_mutex_t *mutex = arg;

	pthread_mutex_lock(mutex);
	counter++;
	pthread_mutex_unlock(mutex);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, worker, &red);
	pthread_create(&b, NULL, worker, &blue);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(counter == 2);
	return 0;
}
