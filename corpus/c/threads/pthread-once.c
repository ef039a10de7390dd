// Lazy initialisation with pthread_once.
// Source: written for this corpus.
// Expected: SC, TSO, PSO verified, without a data race.

#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int table[2];
static int runs;

static void build_table(void)
{
	runs++;
	for (int i = 0; i < 2; i++)
		table[i] = i + 1;
}

static void *user(void *arg)
{
	(void)arg;
	pthread_once(&once, build_table);
	assert(table[0] == 1 && table[1] == 2);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, user, NULL);
	pthread_create(&b, NULL, user, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pthread_once(&once, build_table);
	assert(runs == 1);
	return 0;
}
