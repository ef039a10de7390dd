// Two threads store the same value to a plain variable.
// Source: the usual "benign" data race; Boehm 2011, How to miscompile programs with "benign" data
// races.
// Expected: SC, TSO, PSO verified, with a warning about the data race on `initialised`.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int initialised;

static void *user(void *arg)
{
	(void)arg;
	if (!initialised)
		initialised = 1;
	assert(initialised == 1);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, user, NULL);
	pthread_create(&b, NULL, user, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(initialised);
	return 0;
}
