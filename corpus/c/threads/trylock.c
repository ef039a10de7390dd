// Two threads that take two mutexes in opposite order, and back off with pthread_mutex_trylock.
// Source: written for this corpus.
// Expected: SC, TSO, PSO verified: no thread waits while it holds a mutex. (The retry loop may go
// on for ever under an unfair scheduler; that is not a hang.)

#include <assert.h>
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void lock_both(pthread_mutex_t *first, pthread_mutex_t *second)
{
	for (;;) {
		pthread_mutex_lock(first);
		if (pthread_mutex_trylock(second) == 0)
			return;
		pthread_mutex_unlock(first);
		sched_yield();
	}
}

static void *left(void *arg)
{
	(void)arg;
	lock_both(&a, &b);
	total += 1;
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return NULL;
}

static void *right(void *arg)
{
	(void)arg;
	lock_both(&b, &a);
	total += 2;
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return NULL;
}

int main(void)
{
	pthread_t l, r;

	pthread_create(&l, NULL, left, NULL);
	pthread_create(&r, NULL, right, NULL);
	pthread_join(l, NULL);
	pthread_join(r, NULL);
	assert(total == 3);
	return 0;
}
