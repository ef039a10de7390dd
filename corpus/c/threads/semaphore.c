// A buffer with one slot and two POSIX semaphores: one producer, one consumer, two values.
// Source: Dijkstra 1965, Cooperating sequential processes; with the functions of POSIX.
// Expected: SC, TSO, PSO verified, without a data race.

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t empty, full;
static int slot;

static void *producer(void *arg)
{
	(void)arg;
	for (int i = 1; i <= 2; i++) {
		sem_wait(&empty);
		slot = i;
		sem_post(&full);
	}
	return NULL;
}

static void *consumer(void *arg)
{
	(void)arg;
	for (int i = 1; i <= 2; i++) {
		sem_wait(&full);
		assert(slot == i);
		sem_post(&empty);
	}
	return NULL;
}

int main(void)
{
	pthread_t p, c;

	sem_init(&empty, 0, 1);
	sem_init(&full, 0, 0);
	pthread_create(&p, NULL, producer, NULL);
	pthread_create(&c, NULL, consumer, NULL);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	sem_destroy(&empty);
	sem_destroy(&full);
	return 0;
}
