// An intrusive list to which threads add nodes with cmpxchg, and from which one thread takes all
// nodes with xchg.
// Source: the lock-less list of the Linux kernel (by Huang Ying), in our words.
// Expected: SC, TSO, PSO verified: cmpxchg waits for the link of the added node.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

struct hook {
	struct hook *next;
};

struct inbox {
	struct hook *first;
};

struct job {
	int id;
	int cost;
	struct hook link;
};

static struct inbox jobs;

static void inbox_add(struct hook *added, struct inbox *box)
{
	struct hook *first = READ_ONCE(box->first);

	for (;;) {
		struct hook *seen;

		WRITE_ONCE(added->next, first);
		seen = cmpxchg(&box->first, first, added);
		if (seen == first)
			return;
		first = seen;
	}
}

static struct hook *inbox_take_all(struct inbox *box)
{
	return xchg(&box->first, NULL);
}

static int process(void)
{
	struct hook *n;
	int cost = 0;

	for (n = inbox_take_all(&jobs); n != NULL; n = n->next) {
		struct job *job = container_of(n, struct job, link);

		assert(job->cost == 10 * job->id);
		cost += job->cost;
	}
	return cost;
}

static void *submit(void *arg)
{
	struct job *job = arg;

	job->cost = 10 * job->id;
	inbox_add(&job->link, &jobs);
	return NULL;
}

int main(void)
{
	struct job job[2] = { { .id = 1 }, { .id = 2 } };
	pthread_t t[2];
	int total;

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, submit, &job[i]);
	total = process();
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	total += process();
	assert(total == 30);
	assert(jobs.first == NULL);
	return 0;
}
