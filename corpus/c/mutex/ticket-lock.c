// Ticket lock for two threads, two entries each.
// Source: Reed, Kanodia 1979; Mellor-Crummey, Scott 1991. Twin: mutex/ticket-lock1.fp (which counts
// tickets modulo 2 and enters repeatedly).
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct {
	atomic_uint next_ticket;
	atomic_uint now_serving;
} ticket_lock_t;

#define TICKET_LOCK_INIT { 0, 0 }

static ticket_lock_t lock = TICKET_LOCK_INIT;
static int sum;

static void ticket_lock(ticket_lock_t *l)
{
	unsigned ticket = atomic_fetch_add_explicit(&l->next_ticket, 1, memory_order_relaxed);

	while (atomic_load_explicit(&l->now_serving, memory_order_acquire) != ticket)
		;
}

static void ticket_unlock(ticket_lock_t *l)
{
	unsigned serving = atomic_load_explicit(&l->now_serving, memory_order_relaxed);

	atomic_store_explicit(&l->now_serving, serving + 1, memory_order_release);
}

static void *adder(void *arg)
{
	int amount = *(int *)arg;

	for (int k = 0; k < 2; k++) {
		ticket_lock(&lock);
		sum += amount;
		ticket_unlock(&lock);
	}
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
	assert(sum == 22);
	assert(atomic_load(&lock.now_serving) == 4);
	return 0;
}
