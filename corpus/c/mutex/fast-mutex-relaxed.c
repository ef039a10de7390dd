// Lamport's fast mutex for threads 1 and 2, entered once, with relaxed accesses.
// Source: Lamport 1987, A fast mutual exclusion algorithm; [KVY11] Fig. 7. Twin:
// mutex/fast0-once.fp.
// Expected: SC verified. TSO, PSO violated (assertion): a thread reads `y` as 0 and its own `x`
// while the other thread's store to `y` is pending.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define N 2
#define rlx memory_order_relaxed

static atomic_bool b[N + 1];
static atomic_int x, y;
static atomic_int inside;

static void fast_lock(int i)
{
start:
	atomic_store_explicit(&b[i], true, rlx);
	atomic_store_explicit(&x, i, rlx);
	if (atomic_load_explicit(&y, rlx) != 0) {
		atomic_store_explicit(&b[i], false, rlx);
		while (atomic_load_explicit(&y, rlx) != 0)
			;
		goto start;
	}
	atomic_store_explicit(&y, i, rlx);
	if (atomic_load_explicit(&x, rlx) != i) {
		atomic_store_explicit(&b[i], false, rlx);
		for (int j = 1; j <= N; j++)
			while (atomic_load_explicit(&b[j], rlx))
				;
		if (atomic_load_explicit(&y, rlx) != i) {
			while (atomic_load_explicit(&y, rlx) != 0)
				;
			goto start;
		}
	}
}

static void fast_unlock(int i)
{
	atomic_store_explicit(&y, 0, rlx);
	atomic_store_explicit(&b[i], false, rlx);
}

static void *worker(void *p)
{
	int id = *(const int *)p;

	fast_lock(id);
	assert(atomic_fetch_add(&inside, 1) == 0);
	atomic_fetch_sub(&inside, 1);
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
