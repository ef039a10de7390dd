// MP whose reader spins on the flag and then reads plain data.
// Source: the usual idiom; MP in Maranget, Sarkar, Sewell 2012. Twin: waiting/mp-spin-fenced.fp.
// Expected: SC, TSO, PSO verified, without a data race.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static int data;
static atomic_bool ready;

static void *writer(void *arg)
{
	(void)arg;
	data = 42;
	atomic_store_explicit(&ready, true, memory_order_release);
	return NULL;
}

static void *reader(void *arg)
{
	(void)arg;
	while (!atomic_load_explicit(&ready, memory_order_acquire))
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
