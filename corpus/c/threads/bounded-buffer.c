// A bounded buffer with one slot and two condition variables: one producer, one consumer.
// Source: Hoare 1974, Monitors; with the functions of POSIX.
// Expected: SC, TSO, PSO verified: no lost wake-up, and the values arrive in order.

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
	while (used == 0)
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
	assert(get() == 1);
	assert(get() == 2);
	return NULL;
}

int main(void)
{
	pthread_t p, c;

	pthread_create(&p, NULL, producer, NULL);
	pthread_create(&c, NULL, consumer, NULL);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	assert(used == 0);
	return 0;
}
