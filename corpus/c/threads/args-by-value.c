// Threads that are created in a loop get a number by value and return one by value.
// Source: written for this corpus.
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#define N 3

static void *square(void *arg)
{
	intptr_t n = (intptr_t)arg;

	if (n == 0)
		pthread_exit((void *)100);
	return (void *)(n * n);
}

int main(void)
{
	pthread_t t[N];
	intptr_t sum = 0;

	for (intptr_t i = 0; i < N; i++)
		pthread_create(&t[i], NULL, square, (void *)i);
	for (int i = N - 1; i >= 0; i--) {
		void *result;

		pthread_join(t[i], &result);
		sum += (intptr_t)result;
	}
	assert(sum == 105);
	return 0;
}
