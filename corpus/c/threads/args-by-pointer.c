// Threads that are created in a loop get a pointer to a structure of their own.
// Source: written for this corpus.
// Expected: SC, TSO, PSO verified, without a data race.

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define N 2

struct job {
	pthread_t thread;
	int input;
	int output;
};

static void *run(void *arg)
{
	struct job *job = arg;

	job->output = job->input + 1;
	return job;
}

int main(void)
{
	struct job *jobs = calloc(N, sizeof *jobs);

	for (int i = 0; i < N; i++) {
		jobs[i].input = 10 * i;
		pthread_create(&jobs[i].thread, NULL, run, &jobs[i]);
	}
	for (struct job *job = jobs; job < jobs + N; job++) {
		void *result;

		pthread_join(job->thread, &result);
		assert(result == job);
		assert(job->output == 10 * (job - jobs) + 1);
	}
	free(jobs);
	return 0;
}
