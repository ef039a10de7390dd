#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

int data;
atomic_int ready;

void *writer(void *arg)
{
	data = 42;
	atomic_store_explicit(&ready, 1, memory_order_relaxed);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, writer, NULL);
	if (atomic_load_explicit(&ready, memory_order_relaxed))
		assert(data == 42);
	pthread_join(thread, NULL);
	return 0;
}
