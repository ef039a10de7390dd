// An intrusive list to which threads add nodes with cmpxchg, and from which one thread takes all
// nodes with xchg.
// Source: the lock-less list of the Linux kernel (by Huang Ying), in our words.
// Expected: SC, TSO, PSO verified: cmpxchg waits for the link of the new node.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

struct llist_node {
	struct llist_node *next;
};

struct llist_head {
	struct llist_node *first;
};

struct job {
	int id;
	int cost;
	struct llist_node link;
};

static struct llist_head jobs;

static void llist_add(struct llist_node *new, struct llist_head *head)
{
	struct llist_node *first = READ_ONCE(head->first);

	for (;;) {
		struct llist_node *seen;

		WRITE_ONCE(new->next, first);
		seen = cmpxchg(&head->first, first, new);
		if (seen == first)
			return;
		first = seen;
	}
}

static struct llist_node *llist_del_all(struct llist_head *head)
{
	return xchg(&head->first, NULL);
}

static int process(void)
{
	struct llist_node *n;
	int cost = 0;

	for (n = llist_del_all(&jobs); n != NULL; n = n->next) {
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
	llist_add(&job->link, &jobs);
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
