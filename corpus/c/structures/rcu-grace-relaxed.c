// Read-copy-update in user space for one reader, without the fence at the start of the section.
// Source: Desnoyers, McKenney, Stern, Dagenais, Walpole 2012, User-level implementations of
// read-copy update; reduced to one flag.
// Expected: SC verified. TSO, PSO violated (use after free): the reader loads the old pointer while
// its store to `reading` is pending, and the updater frees the structure.

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
