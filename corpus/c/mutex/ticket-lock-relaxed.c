// Ticket lock for two threads, one entry each, with relaxed accesses.
// Source: Reed, Kanodia 1979; Mellor-Crummey, Scott 1991.
// Expected: SC, TSO verified. PSO violated (assertion): the next ticket may be served before the
// sum is visible. (Mutual exclusion itself holds: tickets never repeat.)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct {
	atomic_uint next_ticket;
	atomic_uint now_serving;
} ticket_lock_t;

static ticket_lock_t lock;
static int sum;

static void ticket_lock(ticket_lock_t *l)
{
	unsigned ticket = atomic_fetch_add_explicit(&l->next_ticket, 1, memory_order_relaxed);

	while (atomic_load_explicit(&l->now_serving, memory_order_relaxed) != ticket)
		;
}

static void ticket_unlock(ticket_lock_t *l)
{
	unsigned serving = atomic_load_explicit(&l->now_serving, memory_order_relaxed);

	atomic_store_explicit(&l->now_serving, serving + 1, memory_order_relaxed);
}

static void *adder(void *arg)
{
	int amount = *(int *)arg;

	ticket_lock(&lock);
	sum += amount;
	ticket_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t t0, t1;
	int a = 1, b = 10;

	pthread_create(&t0, NULL, adder, &a);
	pthread_create(&t1, NULL, adder, &b);
	pthread_join(t0, NULL);
	pthread_join(t1, NULL);
	assert(sum == 11);
	return 0;
}
