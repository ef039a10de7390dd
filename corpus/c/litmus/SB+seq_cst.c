// SB with _Atomic variables that are used like plain ones.
// Source: Intel 2007, memory ordering white paper, example 2.3.a. Twin: litmus/SB+full+full.fp.
// Expected: SC, TSO, PSO verified: such accesses are sequentially consistent.

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

_Atomic int x, y;
int r0, r1;

void *left(void *unused __attribute__((unused)))
{
	x = 1;
	r0 = y;
	return NULL;
}

void *right(void *unused __attribute__((unused)))
{
	y = 1;
	r1 = x;
	return NULL;
}

int main()
{
	pthread_t l, r;

	if (pthread_create(&l, NULL, left, NULL))
		abort();
	if (pthread_create(&r, NULL, right, NULL))
		abort();
	if (pthread_join(l, NULL))
		abort();
	if (pthread_join(r, NULL))
		abort();
	assert(!(r0 == 0 && r1 == 0));
	return 0;
}
