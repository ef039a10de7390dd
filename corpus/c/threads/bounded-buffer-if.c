// A bounded buffer with one slot: one producer, two consumers that test the condition with `if`.
// Source: the usual error; see Hoare 1974, Monitors, and the POSIX description of
// pthread_cond_wait.
// Expected: SC, TSO, PSO violated (assertion): a consumer takes the value before the consumer that
// was woken has the mutex.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#define CAPACITY 1

static int buffer[CAPACITY];
static int used;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;

static void put(int value)
{
	pthread_mutex_lock(&mutex);
	while (used == CAPACITY)
		pthread_cond_wait(&not_full, &mutex);
	buffer[used++] = value;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&mutex);
}

static int get(void)
{
	int value;

	pthread_mutex_lock(&mutex);
	if (used == 0)
		pthread_cond_wait(&not_empty, &mutex);
	assert(used > 0);
	value = buffer[--used];
	pthread_cond_signal(&not_full);
	pthread_mutex_unlock(&mutex);
	return value;
}

static void *producer(void *arg)
{
	(void)arg;
	put(1);
	put(2);
	return NULL;
}

static void *consumer(void *arg)
{
	(void)arg;
	get();
	return NULL;
}

int main(void)
{
	pthread_t p, c1, c2;

	pthread_create(&p, NULL, producer, NULL);
	pthread_create(&c1, NULL, consumer, NULL);
	pthread_create(&c2, NULL, consumer, NULL);
	pthread_join(p, NULL);
	pthread_join(c1, NULL);
	pthread_join(c2, NULL);
	return 0;
}
