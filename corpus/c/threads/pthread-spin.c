// A pthread spinlock protects a counter.
// Source: written for this corpus.
// Expected: SC, TSO, PSO verified, without a data race.

#include <assert.h>
#include <pthread.h>

static pthread_spinlock_t lock;
static int hits;

static void *hit(void *arg)
{
	(void)arg;
	pthread_spin_lock(&lock);
	hits = hits + 1;
	pthread_spin_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	pthread_create(&a, NULL, hit, NULL);
	pthread_create(&b, NULL, hit, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(hits == 2);
	pthread_spin_destroy(&lock);
	return 0;
}
