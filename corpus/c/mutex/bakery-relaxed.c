// Lamport's bakery for two threads, entered once, with READ_ONCE and WRITE_ONCE only.
// Source: Lamport 1974, A new solution of Dijkstra's concurrent programming problem. Twin:
// mutex/bakery0-once.fp. Each thread draws one ticket, so tickets are at most 2.
// Expected: SC verified. TSO, PSO violated (assertion): `choosing` and `number` of a thread may be
// pending while the other thread looks at them, and both enter.

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

static bool choosing[2];
static int number[2];
static int counter;

static bool goes_first(int n, int i, int m, int j)
{
	return n < m || (n == m && i < j);
}

static void bakery_lock(int me)
{
	int other = 1 - me;
	int mine, n;

	WRITE_ONCE(choosing[me], true);
	mine = READ_ONCE(number[other]) + 1;
	WRITE_ONCE(number[me], mine);
	WRITE_ONCE(choosing[me], false);
	while (READ_ONCE(choosing[other]))
		cpu_relax();
	do {
		n = READ_ONCE(number[other]);
	} while (n != 0 && goes_first(n, other, mine, me));
}

static void bakery_unlock(int me)
{
	WRITE_ONCE(number[me], 0);
}

static void *worker(void *arg)
{
	int me = (int)(long)arg;

	bakery_lock(me);
	counter++;
	bakery_unlock(me);
	return NULL;
}

int main(void)
{
	pthread_t t0, t1;

	pthread_create(&t0, NULL, worker, (void *)0L);
	pthread_create(&t1, NULL, worker, (void *)1L);
	pthread_join(t0, NULL);
	pthread_join(t1, NULL);
	assert(counter == 2);
	return 0;
}
