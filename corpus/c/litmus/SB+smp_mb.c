// SB with the names of the Linux kernel.
// Source: Intel 2007, memory ordering white paper, example 2.3.a. Twin: litmus/SB+full+full.fp.
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>

static int x, y;
static int r0, r1;

static void *P0(void *arg)
{
	(void)arg;
	WRITE_ONCE(x, 1);
	smp_mb();
	r0 = READ_ONCE(y);
	return NULL;
}

static void *P1(void *arg)
{
	(void)arg;
	WRITE_ONCE(y, 1);
	smp_mb();
	r1 = READ_ONCE(x);
	return NULL;
}

int main(void)
{
	pthread_t t0, t1;

	pthread_create(&t0, NULL, P0, NULL);
	pthread_create(&t1, NULL, P1, NULL);
	pthread_join(t0, NULL);
	pthread_join(t1, NULL);
	assert(r0 == 1 || r1 == 1);
	return 0;
}
