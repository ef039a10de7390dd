// A reference count: two threads and main share an object, and the last one frees it.
// Source: the usual implementation.
// Expected: SC, TSO, PSO verified. The decrement waits for the stores to the object.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
	atomic_int refs;
	int part[2];
};

static atomic_int frees;

static struct object *object_get(struct object *o)
{
	atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
	return o;
}

static void object_put(struct object *o)
{
	if (atomic_fetch_sub_explicit(&o->refs, 1, memory_order_release) == 1) {
		atomic_thread_fence(memory_order_acquire);
		assert(o->part[0] == 1 && o->part[1] == 1);
		free(o);
		atomic_fetch_add(&frees, 1);
	}
}

static void *worker0(void *arg)
{
	struct object *o = arg;

	o->part[0] = 1;
	object_put(o);
	return NULL;
}

static void *worker1(void *arg)
{
	struct object *o = arg;

	o->part[1] = 1;
	object_put(o);
	return NULL;
}

int main(void)
{
	struct object *o = calloc(1, sizeof *o);
	pthread_t a, b;

	atomic_init(&o->refs, 1);
	pthread_create(&a, NULL, worker0, object_get(o));
	pthread_create(&b, NULL, worker1, object_get(o));
	object_put(o);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(atomic_load(&frees) == 1);
	return 0;
}
