#include "mp-writer.inc"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int data, ready;

static void *writer(void *unused)
{
#define VALUE 1
#include "mp-writer.inc"
	return unused;
}

static void *reader(void *unused)
{
	if (atomic_load_explicit(&ready, memory_order_acquire) == 1)
		assert(atomic_load_explicit(&data, memory_order_relaxed) == 1);
	return unused;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, writer, 0);
	pthread_create(&b, 0, reader, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
