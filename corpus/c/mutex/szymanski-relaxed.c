// Szymanski's lock for two threads, entered once, without fences.
// Source: Szymanski 1988, A simple solution to Lamport's concurrent programming problem with linear
// wait; a benchmark of [Zac]. Twin: mutex/szymanski0-once.fp.
// Expected: SC verified. TSO, PSO violated (assertion): both threads pass the door while their
// stores to `flag` are pending.

#include <assert.h>
#include <pthread.h>

enum state { OUTSIDE, WANTS, WAITS, IN_DOOR, CLOSED };

static volatile enum state flag[2];
static volatile int data;

static void *process(void *arg)
{
	int me = (int)(long)arg, other = 1 - me;

	flag[me] = WANTS;
	while (flag[other] >= IN_DOOR)
		;
	flag[me] = IN_DOOR;
	if (flag[other] == WANTS) {
		flag[me] = WAITS;
		while (flag[other] != CLOSED)
			;
	}
	flag[me] = CLOSED;
	if (me == 1) {
		while (flag[0] >= WAITS)
			;
	}

	data = data + 1;

	if (me == 0) {
		enum state s;
		do {
			s = flag[1];
		} while (s == WAITS || s == IN_DOOR);
	}
	flag[me] = OUTSIDE;
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	pthread_create(&t[0], NULL, process, (void *)0);
	pthread_create(&t[1], NULL, process, (void *)1);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	assert(data == 2);
	return 0;
}
