// A helper function creates a thread with a pointer to its local variable and returns.
// Source: the usual error.
// Expected: SC, TSO, PSO violated (ended lifetime): the variable no longer exists when the thread
// reads it. On a real machine the thread may read any value.

#include <assert.h>
#include <pthread.h>

static int seen;

static void *run(void *arg)
{
	seen = *(int *)arg;
	return NULL;
}

static pthread_t start(int value)
{
	pthread_t t;
	int argument = value;

	pthread_create(&t, NULL, run, &argument);
	return t;
}

int main(void)
{
	pthread_t t = start(7);

	pthread_join(t, NULL);
	assert(seen == 7);
	return 0;
}
