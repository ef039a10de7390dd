#include "macro.h"
#include <assert.h>
#include <pthread.h>

static void *writer(void *unused)
{
	both();
	return unused;
}

int main(void)
{
	pthread_t a;
	pthread_create(&a, 0, writer, 0);
	if (atomic_load(&y) == 1)
		assert(atomic_load(&x) == 1);
	pthread_join(a, 0);
	return 0;
}
