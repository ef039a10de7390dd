// MP with volatile variables, SFENCE and LFENCE.
// Source: Maranget, Sarkar, Sewell 2012. Twin: litmus/MP+ss+ll.fp.
// Expected: SC, TSO, PSO verified: SFENCE orders the stores.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static volatile int data, flag;

static void *writer(void *arg)
{
	(void)arg;
	data = 42;
	__asm__ __volatile__("sfence" ::: "memory");
	flag = 1;
	return NULL;
}

static void *reader(void *arg)
{
	(void)arg;
	if (flag) {
		__asm__ __volatile__("lfence" ::: "memory");
		assert(data == 42);
	}
	return NULL;
}

int main(void)
{
	pthread_t w, r;

	pthread_create(&w, NULL, writer, NULL);
	pthread_create(&r, NULL, reader, NULL);
	pthread_join(w, NULL);
	pthread_join(r, NULL);
	return 0;
}
