// A test-and-set lock with the old __sync builtins of GCC, for three threads.
// Source: folklore; Anderson 1990, The performance of spin lock alternatives. Twin:
// mutex/tas-lock.fp (two threads).
// Expected: SC, TSO, PSO verified: __sync_lock_release is a release store.

#include <assert.h>
#include <pthread.h>
#include <sched.h>

static int lock;
static int owner = -1;

static void *worker(void *arg)
{
	int me = (int)(long)arg;

	while (__sync_lock_test_and_set(&lock, 1))
		sched_yield();

	assert(owner == -1);
	owner = me;
	assert(owner == me);
	owner = -1;

	__sync_lock_release(&lock);
	return (void *)0;
}

int main()
{
	pthread_t a, b, c;

	pthread_create(&a, 0, worker, (void *)1);
	pthread_create(&b, 0, worker, (void *)2);
	pthread_create(&c, 0, worker, (void *)3);
	pthread_join(a, 0);
	pthread_join(b, 0);
	pthread_join(c, 0);
	return 0;
}
