// A pthread barrier between two phases: each thread writes its cell, then reads its neighbour's.
// Source: written for this corpus.
// Expected: SC, TSO, PSO verified, without a data race. One thread gets the serial value.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 2

static pthread_barrier_t barrier;
static int cell[N], sum[N];
static atomic_int serial;

static void *worker(void *arg)
{
	int me = *(int *)arg;

	cell[me] = me + 1;
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		atomic_fetch_add(&serial, 1);
	sum[me] = cell[0] + cell[1];
	return NULL;
}

int main(void)
{
	int id[N] = { 0, 1 };
	pthread_t t[N];

	pthread_barrier_init(&barrier, NULL, N);
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], NULL, worker, &id[i]);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	pthread_barrier_destroy(&barrier);
	assert(sum[0] == 3 && sum[1] == 3);
	assert(serial == 1);
	return 0;
}
