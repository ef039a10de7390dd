// A reference count whose decrement and test are two steps.
// Source: the usual error.
// Expected: SC, TSO, PSO violated (double free or use after free): both threads decrement, then
// both find 0; or one frees the object before the other looks at the count.

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
	atomic_int refs;
	int data;
};

static void object_put(struct object *o)
{
	atomic_fetch_sub(&o->refs, 1);
	if (atomic_load(&o->refs) == 0)
		free(o);
}

static void *worker(void *arg)
{
	object_put(arg);
	return NULL;
}

int main(void)
{
	struct object *o = malloc(sizeof(struct object));
	pthread_t a, b;

	o->data = 1;
	atomic_init(&o->refs, 2);
	pthread_create(&a, NULL, worker, o);
	pthread_create(&b, NULL, worker, o);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
