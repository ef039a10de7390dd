// Publication of a structure by a pointer that is stored with WRITE_ONCE.
// Source: McKenney, Slingwine 1998, Read-copy update, with rcu_assign_pointer replaced.
// Expected: SC, TSO verified. PSO violated (assertion): the pointer may become visible before the
// fields.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct config {
	int threads;
	int limit;
};

static struct config first = { 1, 10 };
static struct config second;
static struct config *current = &first;

static void *updater(void *arg)
{
	(void)arg;
	second.threads = 2;
	second.limit = 20;
	WRITE_ONCE(current, &second);
	return NULL;
}

static void *reader(void *arg)
{
	struct config *c = rcu_dereference(current);
	int threads = c->threads;
	int limit = c->limit;

	(void)arg;
	assert(limit == 10 * threads);
	assert(threads != 0);
	return NULL;
}

int main(void)
{
	pthread_t u, r;

	pthread_create(&u, NULL, updater, NULL);
	pthread_create(&r, NULL, reader, NULL);
	pthread_join(u, NULL);
	pthread_join(r, NULL);
	assert(current == &second);
	return 0;
}
