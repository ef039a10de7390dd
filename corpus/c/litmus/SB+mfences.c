// SB with volatile variables and MFENCE.
// Source: Intel 2007, memory ordering white paper, example 2.3.b. Twin: litmus/SB+full+full.fp.
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

volatile int x, y;
volatile int r0, r1;

static void *p0(void *arg)
{
	(void)arg;
	x = 1;
	asm volatile("mfence" ::: "memory");
	r0 = y;
	return NULL;
}

static void *p1(void *arg)
{
	(void)arg;
	y = 1;
	asm volatile("mfence" ::: "memory");
	r1 = x;
	return NULL;
}

int main(void)
{
	pthread_t t0, t1;

	pthread_create(&t0, NULL, p0, NULL);
	pthread_create(&t1, NULL, p1, NULL);
	pthread_join(t0, NULL);
	pthread_join(t1, NULL);
	assert(r0 == 1 || r1 == 1);
	return 0;
}
