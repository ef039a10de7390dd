// Read-copy-update in user space for one reader: the updater replaces a structure, waits until the
// reader is outside of its section, and frees the old structure.
// Source: Desnoyers, McKenney, Stern, Dagenais, Walpole 2012, User-level implementations of
// read-copy update; reduced to one flag.
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct route {
	int port;
	int copy_of_port;
};

static _Atomic(struct route *) route;
static atomic_int reading;

static struct route *route_new(int port)
{
	struct route *r = malloc(sizeof *r);

	*r = (struct route){ .port = port, .copy_of_port = port };
	return r;
}

static void section_begin(void)
{
	atomic_store_explicit(&reading, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

static void section_end(void)
{
	atomic_store_explicit(&reading, 0, memory_order_release);
}

static void wait_for_reader(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	while (atomic_load_explicit(&reading, memory_order_acquire))
		;
}

static void *reader(void *arg)
{
	struct route *r;

	(void)arg;
	section_begin();
	r = atomic_load_explicit(&route, memory_order_acquire);
	assert(r->port == r->copy_of_port);
	section_end();
	return NULL;
}

static void *updater(void *arg)
{
	struct route *old;

	(void)arg;
	old = atomic_exchange_explicit(&route, route_new(2), memory_order_acq_rel);
	wait_for_reader();
	free(old);
	return NULL;
}

int main(void)
{
	pthread_t r, u;

	atomic_init(&route, route_new(1));
	pthread_create(&r, NULL, reader, NULL);
	pthread_create(&u, NULL, updater, NULL);
	pthread_join(r, NULL);
	pthread_join(u, NULL);
	free(atomic_load(&route));
	return 0;
}
