// Michael and Scott's queue with two locks: one thread enqueues twice, one tries to dequeue twice.
// Source: Michael, Scott 1996, Simple, fast, and practical non-blocking and blocking concurrent
// queue algorithms. The first node is shared by both ends, so its link is atomic.
// Expected: SC, TSO, PSO verified. The mutex drains the value before the link is stored.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
	int value;
	_Atomic(struct node *) next;
};

static struct node *head, *tail;
static pthread_mutex_t head_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tail_lock = PTHREAD_MUTEX_INITIALIZER;

static void init(void)
{
	head = tail = calloc(1, sizeof(struct node));
}

static void enqueue(int value)
{
	struct node *n = calloc(1, sizeof *n);

	n->value = value;
	pthread_mutex_lock(&tail_lock);
	atomic_store_explicit(&tail->next, n, memory_order_release);
	tail = n;
	pthread_mutex_unlock(&tail_lock);
}

static int dequeue(void)
{
	struct node *old, *first;
	int value;

	pthread_mutex_lock(&head_lock);
	old = head;
	first = atomic_load_explicit(&old->next, memory_order_acquire);
	if (first == NULL) {
		pthread_mutex_unlock(&head_lock);
		return -1;
	}
	value = first->value;
	head = first;
	pthread_mutex_unlock(&head_lock);
	free(old);
	return value;
}

static void *producer(void *arg)
{
	(void)arg;
	enqueue(1);
	enqueue(2);
	return NULL;
}

static void *consumer(void *arg)
{
	int a = dequeue();
	int b = dequeue();

	(void)arg;
	if (a != -1)
		assert(a == 1 && (b == -1 || b == 2));
	else
		assert(b == -1 || b == 1);
	return NULL;
}

int main(void)
{
	pthread_t p, c;

	init();
	pthread_create(&p, NULL, producer, NULL);
	pthread_create(&c, NULL, consumer, NULL);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	while (dequeue() != -1)
		;
	assert(head == tail);
	free(head);
	return 0;
}
