// A sequence lock in the words of the Linux kernel: the reader retries until it has a consistent
// copy of a structure.
// Source: Lameter 2005, Effective synchronization on Linux/NUMA systems; written for this corpus.
// Expected: SC, TSO, PSO verified. smp_wmb is a store-store fence on both sides of the update. The
// retry loop ends, because there is one update.

#include <assert.h>
#include <pthread.h>

struct point {
	int x;
	int y;
};

static unsigned sequence;
static struct point position = { 1, 1 };

static void update_begin(void)
{
	WRITE_ONCE(sequence, sequence + 1);
	smp_wmb();
}

static void update_end(void)
{
	smp_wmb();
	WRITE_ONCE(sequence, sequence + 1);
}

static unsigned snapshot_begin(void)
{
	unsigned s;

	while ((s = READ_ONCE(sequence)) & 1)
		cpu_relax();
	smp_rmb();
	return s;
}

static int snapshot_changed(unsigned start)
{
	smp_rmb();
	return READ_ONCE(sequence) != start;
}

static void *mover(void *arg)
{
	(void)arg;
	update_begin();
	WRITE_ONCE(position.x, 2);
	WRITE_ONCE(position.y, 2);
	update_end();
	return NULL;
}

static void *observer(void *arg)
{
	struct point copy;
	unsigned start;

	(void)arg;
	do {
		start = snapshot_begin();
		copy.x = READ_ONCE(position.x);
		copy.y = READ_ONCE(position.y);
	} while (snapshot_changed(start));
	assert(copy.x == copy.y);
	return NULL;
}

int main(void)
{
	pthread_t m, o;

	pthread_create(&m, NULL, mover, NULL);
	pthread_create(&o, NULL, observer, NULL);
	pthread_join(m, NULL);
	pthread_join(o, NULL);
	assert(position.x == 2 && position.y == 2);
	return 0;
}
