// Two readers that try to become writers while they hold the lock for reading.
// Source: the usual error.
// Expected: SC, TSO, PSO violated (hang): each waits for the other to release its read lock. One
// thread alone waits for itself; POSIX may return EDEADLK, which the program ignores, or wait.

#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int cached;

static void *user(void *arg)
{
	(void)arg;
	pthread_rwlock_rdlock(&lock);
	if (!cached) {
		pthread_rwlock_wrlock(&lock);
		cached = 1;
	}
	pthread_rwlock_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, user, NULL);
	pthread_create(&b, NULL, user, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
