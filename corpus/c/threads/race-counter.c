// Two threads increment a plain counter without a lock.
// Source: the usual error. Twin: litmus/inc2.fp.
// Expected: SC, TSO, PSO violated (assertion), with a data race: an increment is lost.

#include <assert.h>
#include <pthread.h>
#include <stdio.h>

int counter = 0;

void *increment(void *arg)
{
	(void)arg;
	counter++;
	return NULL;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, increment, NULL);
	pthread_create(&t2, NULL, increment, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	printf("counter = %d\n", counter);
	assert(counter == 2);
	return 0;
}
