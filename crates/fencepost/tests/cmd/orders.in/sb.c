#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;
int a, b;

void *left(void *arg)
{
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	a = atomic_load_explicit(&y, memory_order_relaxed);
	return 0;
}

void *right(void *arg)
{
	__atomic_store_n(&y, 1, __ATOMIC_RELEASE);
	b = __atomic_load_n(&x, __ATOMIC_RELAXED);
	return 0;
}

int main(void)
{
	pthread_t t, u;

	pthread_create(&t, 0, left, 0);
	pthread_create(&u, 0, right, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	assert(a == 1 || b == 1);
	return 0;
}
