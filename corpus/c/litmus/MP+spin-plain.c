// MP whose reader spins on a volatile flag, without orders.
// Source: the usual error; MP in Maranget, Sarkar, Sewell 2012. Twin: waiting/mp-spin.fp.
// Expected: SC, TSO verified, with a data race on `data`. PSO violated (assertion): the flag may
// become visible before the data.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int data;
static volatile int ready;

static void *writer(void *arg)
{
	(void)arg;
	data = 42;
	ready = 1;
	return NULL;
}

static void *reader(void *arg)
{
	(void)arg;
	while (!ready)
		;
	assert(data == 42);
	return NULL;
}

int main(void)
{
	pthread_t w, r;

	pthread_create(&w, NULL, writer, NULL);
	pthread_create(&r, NULL, reader, NULL);
	pthread_join(w, NULL);
	pthread_join(r, NULL);
	return 0;
}
