// Lamport's fast mutex for threads 1 and 2, entered once, with _Atomic variables.
// Source: Lamport 1987, A fast mutual exclusion algorithm; [KVY11] Fig. 7. Twin: mutex/fast3.fp
// (which enters repeatedly).
// Expected: SC, TSO, PSO verified: a plain use of an _Atomic variable is sequentially consistent.

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

#define N 2

static _Atomic bool b[N + 1];
static _Atomic int x, y;
static int shared;

static void fast_lock(int i)
{
start:
	b[i] = true;
	x = i;
	if (y != 0) {
		b[i] = false;
		while (y != 0)
			;
		goto start;
	}
	y = i;
	if (x != i) {
		b[i] = false;
		for (int j = 1; j <= N; j++)
			while (b[j])
				;
		if (y != i) {
			while (y != 0)
				;
			goto start;
		}
	}
}

static void fast_unlock(int i)
{
	y = 0;
	b[i] = false;
}

static void *worker(void *p)
{
	int id = *(const int *)p;

	fast_lock(id);
	shared = id;
	assert(shared == id);
	fast_unlock(id);
	return NULL;
}

int main(void)
{
	static const int id[N] = { 1, 2 };
	pthread_t t[N];
	int k;

	for (k = 0; k < N; k++)
		if (pthread_create(t + k, NULL, worker, (void *)(id + k)) != 0)
			return 1;
	for (k = 0; k < N; k++)
		pthread_join(t[k], NULL);
	return 0;
}
