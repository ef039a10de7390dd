// Double-checked locking with a plain pointer, for two threads.
// Source: Schmidt, Harrison 1997, Double-checked locking; the error is described in Bacon et al.,
// The "Double-Checked Locking is Broken" Declaration.
// Expected: SC, TSO verified, with a data race on `instance`. PSO violated (assertion): the pointer
// may become visible before the level, because the second thread does not take the lock.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct logger {
	int level;
};

static struct logger storage;
static struct logger *instance;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct logger *get_logger(void)
{
	if (instance == NULL) {
		pthread_mutex_lock(&mutex);
		if (instance == NULL) {
			storage.level = 3;
			instance = &storage;
		}
		pthread_mutex_unlock(&mutex);
	}
	return instance;
}

static void *worker(void *arg)
{
	(void)arg;
	assert(get_logger()->level == 3);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
