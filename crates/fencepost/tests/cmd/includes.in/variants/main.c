#include "../lib/lock.h"
#include "../variants/../lib/lock.h"
#include <assert.h>
#include <pthread.h>

static int shared;

static void *worker(void *argument)
{
	int me = *(int *)argument;
	lock(me);
	shared = me;
	assert(shared == me);
	unlock(me);
	return 0;
}

int main(void)
{
	int ids[2] = {0, 1};
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, worker, &ids[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return 0;
}
