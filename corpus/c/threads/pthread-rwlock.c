// A pthread reader-writer lock: a writer changes a pair, two readers see it consistent.
// Source: written for this corpus.
// Expected: SC, TSO, PSO verified, without a data race.

#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct {
	int low, high;
} pair = { 1, 2 };

static void *writer(void *arg)
{
	(void)arg;
	pthread_rwlock_wrlock(&lock);
	pair.low += 5;
	pair.high += 5;
	pthread_rwlock_unlock(&lock);
	return NULL;
}

static void *reader(void *arg)
{
	int low, high;

	(void)arg;
	pthread_rwlock_rdlock(&lock);
	low = pair.low;
	high = pair.high;
	pthread_rwlock_unlock(&lock);
	assert(high == low + 1);
	return NULL;
}

int main(void)
{
	pthread_t w, r1, r2;

	pthread_create(&r1, NULL, reader, NULL);
	pthread_create(&w, NULL, writer, NULL);
	pthread_create(&r2, NULL, reader, NULL);
	pthread_join(r1, NULL);
	pthread_join(w, NULL);
	pthread_join(r2, NULL);
	pthread_rwlock_destroy(&lock);
	return 0;
}
