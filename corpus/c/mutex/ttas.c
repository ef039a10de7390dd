// Test-and-test-and-set lock for two threads, in the words of the Linux kernel.
// Source: Rudolph, Segall 1984; Anderson 1990. Twin: mutex/ttas-lock.fp (which enters repeatedly).
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>

static int locked;
static int counter;

static void acquire(void)
{
	for (;;) {
		while (READ_ONCE(locked))
			cpu_relax();
		if (xchg(&locked, 1) == 0)
			return;
	}
}

static void release(void)
{
	smp_store_release(&locked, 0);
}

static void *worker(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 2; i++) {
		acquire();
		counter = counter + 1;
		release();
	}
	return NULL;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, worker, NULL);
	pthread_create(&t2, NULL, worker, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	assert(counter == 4);
	return 0;
}
