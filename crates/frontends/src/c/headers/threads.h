#pragma once
/* Threads of C11, over those of POSIX. */
#include <pthread.h>
#include <time.h>
#define thread_local _Thread_local
#define ONCE_FLAG_INIT PTHREAD_ONCE_INIT
#define TSS_DTOR_ITERATIONS 4
enum { thrd_success = 0, thrd_busy = 1, thrd_error = 2, thrd_nomem = 3, thrd_timedout = 4 };
enum { mtx_plain = 0, mtx_recursive = 1, mtx_timed = 2 };
typedef unsigned long thrd_t;
typedef int (*thrd_start_t)(void *);
typedef pthread_mutex_t mtx_t;
typedef pthread_cond_t cnd_t;
typedef pthread_once_t once_flag;
typedef pthread_key_t tss_t;
typedef void (*tss_dtor_t)(void *);

static inline int thrd_create(thrd_t *thread, thrd_start_t function, void *argument) {
	*thread = __fencepost_thread_create(function, argument);
	return thrd_success;
}
static inline int thrd_join(thrd_t thread, int *result) {
	void *value = __fencepost_thread_join(thread);
	if (result)
		*result = (int)(long)value;
	return thrd_success;
}
static inline int thrd_detach(thrd_t thread) { return thrd_success; }
static inline thrd_t thrd_current(void) { return __fencepost_thread_self(); }
static inline int thrd_equal(thrd_t left, thrd_t right) { return left == right; }
static inline void thrd_exit(int result) { __fencepost_thread_exit((void *)(long)result); }
static inline void thrd_yield(void) {}
static inline int thrd_sleep(const struct timespec *time, struct timespec *rest) { return 0; }

static inline int mtx_init(mtx_t *mutex, int kind) {
	mutex->__owner = 0;
	mutex->__kind = kind & mtx_recursive;
	mutex->__again = 0;
	return thrd_success;
}
static inline void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy(mutex); }
static inline int mtx_lock(mtx_t *mutex) {
	pthread_mutex_lock(mutex);
	return thrd_success;
}
static inline int mtx_trylock(mtx_t *mutex) {
	return pthread_mutex_trylock(mutex) ? thrd_busy : thrd_success;
}
static inline int mtx_timedlock(mtx_t *mutex, const struct timespec *time) {
	return pthread_mutex_timedlock(mutex, time) ? thrd_timedout : thrd_success;
}
static inline int mtx_unlock(mtx_t *mutex) {
	pthread_mutex_unlock(mutex);
	return thrd_success;
}

static inline int cnd_init(cnd_t *cond) { return pthread_cond_init(cond, 0); }
static inline void cnd_destroy(cnd_t *cond) {}
static inline int cnd_wait(cnd_t *cond, mtx_t *mutex) { return pthread_cond_wait(cond, mutex); }
static inline int cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *time) {
	return pthread_cond_timedwait(cond, mutex, time) ? thrd_timedout : thrd_success;
}
static inline int cnd_signal(cnd_t *cond) { return pthread_cond_signal(cond); }
static inline int cnd_broadcast(cnd_t *cond) { return pthread_cond_broadcast(cond); }
static inline void call_once(once_flag *once, void (*function)(void)) {
	pthread_once(once, function);
}

static inline int tss_create(tss_t *key, tss_dtor_t destructor) {
	return pthread_key_create(key, destructor) ? thrd_error : thrd_success;
}
static inline void tss_delete(tss_t key) {}
static inline void *tss_get(tss_t key) { return pthread_getspecific(key); }
static inline int tss_set(tss_t key, void *value) { return pthread_setspecific(key, value); }
