// A thread signals a condition variable without the mutex, after it has set an atomic flag.
// Source: the usual error.
// Expected: SC, TSO, PSO violated (hang): the signal comes between the test of the flag and the
// wait. (If spurious wake-ups were guaranteed, the waiter would go on; POSIX only allows them.)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_bool ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void *waiter(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&mutex);
	while (!atomic_load(&ready))
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *signaller(void *arg)
{
	(void)arg;
	atomic_store(&ready, true);
	pthread_cond_signal(&cond);
	return NULL;
}

int main(void)
{
	pthread_t w, s;

	pthread_create(&w, NULL, waiter, NULL);
	pthread_create(&s, NULL, signaller, NULL);
	pthread_join(w, NULL);
	pthread_join(s, NULL);
	assert(ready);
	return 0;
}
