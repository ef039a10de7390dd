// Peterson's lock for two threads, entered once, as old x86 code writes it: volatile variables and
// one MFENCE before the loop.
// Source: Peterson 1981, Myths about the mutual exclusion problem. Twin:
// mutex/peterson1-once-tso.fp.
// Expected: SC, TSO verified: both stores are visible before the first load. PSO violated
// (assertion): `turn` may be committed before `want[me]`, and the last store to `want` may be
// committed before the counter.

#include <assert.h>
#include <pthread.h>

static volatile int want[2];
static volatile int turn;
static volatile int owner;
static volatile int entries;

#define mfence() asm volatile("mfence" ::: "memory")

static void critical_section(int me)
{
	owner = me;
	entries = entries + 1;
	assert(owner == me);
}

static void *thread0(void *arg)
{
	(void)arg;
	want[0] = 1;
	turn = 1;
	mfence();
	while (want[1] && turn == 1)
		asm volatile("pause" ::: "memory");
	critical_section(0);
	want[0] = 0;
	return 0;
}

static void *thread1(void *arg)
{
	(void)arg;
	want[1] = 1;
	turn = 0;
	mfence();
	while (want[0] && turn == 0)
		asm volatile("pause" ::: "memory");
	critical_section(1);
	want[1] = 0;
	return 0;
}

int main(void)
{
	pthread_t t0, t1;

	pthread_create(&t0, 0, thread0, 0);
	pthread_create(&t1, 0, thread1, 0);
	pthread_join(t0, 0);
	pthread_join(t1, 0);
	assert(entries == 2);
	return 0;
}
