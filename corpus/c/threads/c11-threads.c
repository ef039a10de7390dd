// The threads of C11: thrd_create, a mutex, a condition variable and call_once.
// Source: written for this corpus.
// Expected: SC, TSO, PSO verified, without a data race.

#include <assert.h>
#include <threads.h>

static once_flag flag = ONCE_FLAG_INIT;
static mtx_t mutex;
static cnd_t arrived;
static int waiting_for = 2;

static void setup(void)
{
	mtx_init(&mutex, mtx_plain);
	cnd_init(&arrived);
}

static int arrive(void *arg)
{
	call_once(&flag, setup);
	mtx_lock(&mutex);
	waiting_for--;
	cnd_signal(&arrived);
	mtx_unlock(&mutex);
	return *(int *)arg;
}

int main(void)
{
	int codes[2] = { 3, 4 };
	thrd_t t[2];
	int sum = 0;

	call_once(&flag, setup);
	for (int i = 0; i < 2; i++)
		if (thrd_create(&t[i], arrive, &codes[i]) != thrd_success)
			return 1;
	mtx_lock(&mutex);
	while (waiting_for > 0)
		cnd_wait(&arrived, &mutex);
	mtx_unlock(&mutex);
	for (int i = 0; i < 2; i++) {
		int code;

		thrd_join(t[i], &code);
		sum += code;
	}
	assert(sum == 7);
	cnd_destroy(&arrived);
	mtx_destroy(&mutex);
	return 0;
}
