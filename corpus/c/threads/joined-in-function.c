// A function creates a thread with a pointer to its local variable and waits for it.
// Source: written for the corpus.
// Expected: verified under every model.

#include <assert.h>
#include <pthread.h>

struct job {
	int input;
	int output;
};

static void *run(void *arg)
{
	struct job *job = arg;

	job->output = job->input + 1;
	return NULL;
}

static int compute(int input)
{
	struct job job = { .input = input };
	pthread_t t;

	pthread_create(&t, NULL, run, &job);
	pthread_join(t, NULL);
	return job.output;
}

int main(void)
{
	assert(compute(1) == 2);
	assert(compute(7) == 8);
	return 0;
}
