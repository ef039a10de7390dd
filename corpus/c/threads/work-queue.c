// A work queue with function pointers: main submits jobs, two workers run them, and broadcast ends
// the workers.
// Source: written for this corpus.
// Expected: SC, TSO, PSO verified.

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

typedef void (*job_function)(void *argument);

struct job {
	job_function function;
	void *argument;
	struct job *next;
};

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct job *first, **end;
	bool closed;
} queue = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
	.end = &queue.first,
};

static int doubled, negated;

static void submit(job_function function, void *argument)
{
	struct job *job = malloc(sizeof *job);

	*job = (struct job){ function, argument, NULL };
	pthread_mutex_lock(&queue.mutex);
	*queue.end = job;
	queue.end = &job->next;
	pthread_cond_signal(&queue.changed);
	pthread_mutex_unlock(&queue.mutex);
}

static void finish(void)
{
	pthread_mutex_lock(&queue.mutex);
	queue.closed = true;
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.mutex);
}

static struct job *next_job(void)
{
	struct job *job;

	pthread_mutex_lock(&queue.mutex);
	while (queue.first == NULL && !queue.closed)
		pthread_cond_wait(&queue.changed, &queue.mutex);
	job = queue.first;
	if (job != NULL) {
		queue.first = job->next;
		if (queue.first == NULL)
			queue.end = &queue.first;
	}
	pthread_mutex_unlock(&queue.mutex);
	return job;
}

static void *worker(void *unused)
{
	struct job *job;

	(void)unused;
	while ((job = next_job()) != NULL) {
		job->function(job->argument);
		free(job);
	}
	return NULL;
}

static void twice(void *argument)
{
	doubled = 2 * *(int *)argument;
}

static void negative(void *argument)
{
	negated = -*(int *)argument;
}

int main(void)
{
	pthread_t w1, w2;
	int x = 21, y = 5;

	pthread_create(&w1, NULL, worker, NULL);
	pthread_create(&w2, NULL, worker, NULL);
	submit(twice, &x);
	submit(negative, &y);
	finish();
	pthread_join(w1, NULL);
	pthread_join(w2, NULL);
	assert(doubled == 42);
	assert(negated == -5);
	assert(queue.first == NULL);
	return 0;
}
