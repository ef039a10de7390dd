// Two threads add to each other's number in atomic sections of SV-COMP; main claims a bound that is
// too small.
// Source: written for this corpus after the idea of the Fibonacci benchmarks of SV-COMP.
// Expected: SC, TSO, PSO violated (assertion): the alternating schedule reaches 8.

#include <pthread.h>

extern void abort(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

#define STEPS 2

void reach_error(void)
{
	abort();
}

static int a = 1, b = 1;

void *left(void *arg)
{
	(void)arg;
	for (int k = 0; k < STEPS; k++) {
		__VERIFIER_atomic_begin();
		a = a + b;
		__VERIFIER_atomic_end();
	}
	return 0;
}

void *right(void *arg)
{
	(void)arg;
	for (int k = 0; k < STEPS; k++) {
		__VERIFIER_atomic_begin();
		b = a + b;
		__VERIFIER_atomic_end();
	}
	return 0;
}

int main(void)
{
	pthread_t l, r;

	pthread_create(&l, 0, left, 0);
	pthread_create(&r, 0, right, 0);
	pthread_join(l, 0);
	pthread_join(r, 0);
	if (a >= 8 || b >= 8)
		reach_error();
	return 0;
}
