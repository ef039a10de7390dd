// Two threads allocate objects and hand them over. Nothing is freed, so the allocations commute: the
// stateless engine explores one execution for each order of the two exchanges.
// Source: our own.
// Expected: verified under every model.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
	int value;
	struct node *next;
};

_Atomic(struct node *) top;

void *worker(void *arg)
{
	struct node *own = malloc(sizeof *own);
	own->value = 1;
	own->next = atomic_exchange(&top, own);
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	struct node *last = top;
	assert(last->next != last && last->next->next == NULL);
	assert(last->value + last->next->value == 2);
	return 0;
}
