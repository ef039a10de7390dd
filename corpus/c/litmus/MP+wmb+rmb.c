// MP with the barriers of the Linux kernel.
// Source: Maranget, Sarkar, Sewell 2012. Twin: litmus/MP+ss+ll.fp.
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>

static int data, flag;
static int r0, r1;

static void *P0(void *arg)
{
	(void)arg;
	WRITE_ONCE(data, 1);
	smp_wmb();
	WRITE_ONCE(flag, 1);
	return NULL;
}

static void *P1(void *arg)
{
	(void)arg;
	r0 = READ_ONCE(flag);
	smp_rmb();
	r1 = READ_ONCE(data);
	return NULL;
}

int main(void)
{
	pthread_t t0, t1;

	pthread_create(&t0, NULL, P0, NULL);
	pthread_create(&t1, NULL, P1, NULL);
	pthread_join(t0, NULL);
	pthread_join(t1, NULL);
	assert(!(r0 == 1 && r1 == 0));
	return 0;
}
