// A test-and-set lock that an error path does not release.
// Source: the usual bug. Twin: waiting/tas-lock-no-release.fp.
// Expected: SC, TSO, PSO violated (hang): if the thread that finds `balance` too small is first, it
// returns with the lock held and the other thread waits forever.

#include <pthread.h>
#include <stdatomic.h>

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int balance = 1;

static int withdraw(int amount)
{
	while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
		;
	if (balance < amount)
		return -1;
	balance -= amount;
	atomic_flag_clear_explicit(&lock, memory_order_release);
	return 0;
}

static void *customer(void *arg)
{
	withdraw(*(int *)arg);
	return NULL;
}

int main(void)
{
	int one = 1, two = 2;
	pthread_t a, b;

	pthread_create(&a, NULL, customer, &one);
	pthread_create(&b, NULL, customer, &two);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
