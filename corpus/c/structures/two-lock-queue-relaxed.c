// Michael and Scott's queue with two locks and a relaxed link: the value is stored after the lock
// is taken.
// Source: Michael, Scott 1996, Simple, fast, and practical non-blocking and blocking concurrent
// queue algorithms, with an order weakened and a store moved.
// Expected: SC, TSO verified. PSO violated (assertion): the link may become visible before the
// value, because the consumer holds a different lock; it dequeues 0.

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

	pthread_mutex_lock(&tail_lock);
	n->value = value;
	atomic_store_explicit(&tail->next, n, memory_order_relaxed);
	tail = n;
	pthread_mutex_unlock(&tail_lock);
}

static int dequeue(void)
{
	struct node *old, *first;
	int value;

	pthread_mutex_lock(&head_lock);
	old = head;
	first = atomic_load_explicit(&old->next, memory_order_relaxed);
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
