// A loop creates threads with pointers to a variable of its body.
// Source: the usual error.
// Expected: SC, TSO, PSO violated (ended lifetime): the iteration may end before the thread reads
// the variable.

#include <pthread.h>

static int seen[2];

static void *run(void *arg)
{
	int *slot = arg;

	seen[*slot] = 1;
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++) {
		int slot = i;

		pthread_create(&t[i], NULL, run, &slot);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
