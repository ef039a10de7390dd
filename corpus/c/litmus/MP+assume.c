// MP in the style of SV-COMP: the reader continues only if it has seen the flag.
// Source: MP in Maranget, Sarkar, Sewell 2012; written for this corpus. Twin: litmus/MP.fp.
// Expected: SC, TSO verified. PSO violated (assertion): the flag may become visible before the
// data.

#include <pthread.h>

extern void abort(void);
extern void __VERIFIER_assume(int);

void reach_error(void) { abort(); }

void __VERIFIER_assert(int expression)
{
	if (!expression) {
		reach_error();
	}
}

volatile int data, flag;

void *writer(void *arg)
{
	(void)arg;
	data = 1;
	flag = 1;
	return 0;
}

void *reader(void *arg)
{
	(void)arg;
	__VERIFIER_assume(flag == 1);
	__VERIFIER_assert(data == 1);
	return 0;
}

int main(void)
{
	pthread_t w, r;

	pthread_create(&w, 0, writer, 0);
	pthread_create(&r, 0, reader, 0);
	pthread_join(w, 0);
	pthread_join(r, 0);
	return 0;
}
