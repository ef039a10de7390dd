// A function locks a mutex that its caller already holds.
// Source: the usual error.
// Expected: SC, TSO, PSO violated (hang): a default mutex is not recursive.

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int log_length;

static void log_message(void)
{
	pthread_mutex_lock(&mutex);
	log_length++;
	pthread_mutex_unlock(&mutex);
}

static void *worker(void *arg)
{
	int failed = *(int *)arg;

	pthread_mutex_lock(&mutex);
	if (failed)
		log_message();
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(void)
{
	int no = 0, yes = 1;
	pthread_t a, b;

	pthread_create(&a, NULL, worker, &no);
	pthread_create(&b, NULL, worker, &yes);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
