// A tree of threads: a thread adds up a range by creating a thread for its lower half.
// Source: written for this corpus.
// Expected: SC, TSO, PSO verified: creation and join order all accesses.

#include <assert.h>
#include <pthread.h>

struct range {
	const int *from;
	int n;
	int sum;
};

static void *add_up(void *arg)
{
	struct range *r = arg;

	if (r->n == 1) {
		r->sum = *r->from;
	} else {
		struct range low = { r->from, r->n / 2, 0 };
		struct range high = { r->from + r->n / 2, r->n - r->n / 2, 0 };
		pthread_t t;

		pthread_create(&t, NULL, add_up, &low);
		add_up(&high);
		pthread_join(t, NULL);
		r->sum = low.sum + high.sum;
	}
	return NULL;
}

int main(void)
{
	static const int numbers[3] = { 1, 20, 300 };
	struct range all = { numbers, 3, 0 };
	pthread_t t;

	pthread_create(&t, NULL, add_up, &all);
	pthread_join(t, NULL);
	assert(all.sum == 321);
	return 0;
}
