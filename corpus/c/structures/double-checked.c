// Double-checked locking with an atomic pointer, for two threads.
// Source: Schmidt, Harrison 1997, Double-checked locking; with the orders of C11.
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct logger {
	int level;
	int *counters;
};

static _Atomic(struct logger *) instance;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int created;

static struct logger *get_logger(void)
{
	struct logger *l = atomic_load_explicit(&instance, memory_order_acquire);

	if (l == NULL) {
		pthread_mutex_lock(&mutex);
		l = atomic_load_explicit(&instance, memory_order_relaxed);
		if (l == NULL) {
			l = malloc(sizeof *l);
			l->level = 3;
			l->counters = calloc(2, sizeof(int));
			created++;
			atomic_store_explicit(&instance, l, memory_order_release);
		}
		pthread_mutex_unlock(&mutex);
	}
	return l;
}

static void *worker(void *arg)
{
	struct logger *l = get_logger();

	assert(l->level == 3);
	l->counters[(long)arg]++;
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, worker, (void *)0L);
	pthread_create(&b, NULL, worker, (void *)1L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(created == 1);
	assert(instance->counters[0] == 1 && instance->counters[1] == 1);
	free(instance->counters);
	free(instance);
	return 0;
}
