#pragma once
/* Threads of POSIX, over blocks that are atomic. An `assume` that is false inside such a block makes
   the whole block wait. Errors of the program (unlocking a mutex that the thread does not hold) are
   violations. An owner is the number of a thread plus 1, or 0. */
#include <stddef.h>
#include <errno.h>
#include <sched.h>
#include <time.h>

typedef unsigned long pthread_t;
typedef struct { int __unused; } pthread_attr_t;
#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_SCOPE_SYSTEM 0
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1

static inline int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
				 void *(*function)(void *), void *argument) {
	*thread = __fencepost_thread_create(function, argument);
	return 0;
}
static inline int pthread_join(pthread_t thread, void **result) {
	void *value = __fencepost_thread_join(thread);
	if (result)
		*result = value;
	return 0;
}
static inline int pthread_detach(pthread_t thread) { return 0; }
_Noreturn void pthread_exit(void *value);
static inline pthread_t pthread_self(void) { return __fencepost_thread_self(); }
static inline int pthread_equal(pthread_t left, pthread_t right) { return left == right; }
static inline int pthread_yield(void) { return 0; }
static inline int pthread_attr_init(pthread_attr_t *attributes) { return 0; }
static inline int pthread_attr_destroy(pthread_attr_t *attributes) { return 0; }
static inline int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state) { return 0; }
static inline int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size) { return 0; }
static inline int pthread_setconcurrency(int level) { return 0; }

/* Mutexes. */
#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_DEFAULT 0
#define PTHREAD_MUTEX_RECURSIVE 1
#define PTHREAD_MUTEX_ERRORCHECK 2
typedef struct { int __owner; unsigned char __kind; unsigned char __again; } pthread_mutex_t;
typedef struct { unsigned char __kind; } pthread_mutexattr_t;
#define PTHREAD_MUTEX_INITIALIZER { 0, 0, 0 }
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP { 0, 1, 0 }
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP { 0, 2, 0 }

static inline int pthread_mutexattr_init(pthread_mutexattr_t *attributes) {
	attributes->__kind = 0;
	return 0;
}
static inline int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes) { return 0; }
static inline int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int kind) {
	attributes->__kind = kind;
	return 0;
}
static inline int pthread_mutex_init(pthread_mutex_t *mutex,
				     const pthread_mutexattr_t *attributes) {
	mutex->__owner = 0;
	mutex->__kind = attributes ? attributes->__kind : 0;
	mutex->__again = 0;
	return 0;
}
static inline int pthread_mutex_destroy(pthread_mutex_t *mutex) {
	__fencepost_atomic_begin();
	if (mutex->__owner)
		__fencepost_fail("pthread_mutex_destroy: the mutex is locked");
	__fencepost_atomic_end();
	return 0;
}
static inline int pthread_mutex_lock(pthread_mutex_t *mutex) {
	int self = (int)__fencepost_thread_self() + 1;
	int result = 0;
	__fencepost_atomic_begin();
	if (mutex->__kind && mutex->__owner == self) {
		if (mutex->__kind == PTHREAD_MUTEX_RECURSIVE)
			mutex->__again++;
		else
			result = EDEADLK;
	} else {
		__fencepost_assume(mutex->__owner == 0);
		mutex->__owner = self;
	}
	__fencepost_atomic_end();
	return result;
}
static inline int pthread_mutex_trylock(pthread_mutex_t *mutex) {
	int self = (int)__fencepost_thread_self() + 1;
	int result = 0;
	__fencepost_atomic_begin();
	if (mutex->__owner == 0)
		mutex->__owner = self;
	else if (mutex->__kind == PTHREAD_MUTEX_RECURSIVE && mutex->__owner == self)
		mutex->__again++;
	else
		result = EBUSY;
	__fencepost_atomic_end();
	return result;
}
/* May time out at any moment. */
static inline int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *time) {
	return __VERIFIER_nondet_bool() ? ETIMEDOUT : pthread_mutex_lock(mutex);
}
static inline int pthread_mutex_unlock(pthread_mutex_t *mutex) {
	int self = (int)__fencepost_thread_self() + 1;
	__fencepost_atomic_begin();
	if (mutex->__owner != self)
		__fencepost_fail("pthread_mutex_unlock: the thread does not hold the mutex");
	if (mutex->__again)
		mutex->__again--;
	else
		mutex->__owner = 0;
	__fencepost_atomic_end();
	return 0;
}

/* Condition variables. A signal waits in `__signal` until a waiter takes it: 1 for one waiter, 2 for
   all. Until then, no thread begins to wait and no further signal is given, so exactly the threads
   that wait when the signal is given can take it. Spurious wake-ups are not modelled. */
typedef struct { int __waiting; unsigned char __signal; } pthread_cond_t;
typedef struct { int __unused; } pthread_condattr_t;
#define PTHREAD_COND_INITIALIZER { 0, 0 }

static inline int pthread_condattr_init(pthread_condattr_t *attributes) { return 0; }
static inline int pthread_condattr_destroy(pthread_condattr_t *attributes) { return 0; }
static inline int pthread_condattr_setclock(pthread_condattr_t *attributes, int clock) { return 0; }
static inline int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes) {
	cond->__waiting = 0;
	cond->__signal = 0;
	return 0;
}
static inline int pthread_cond_destroy(pthread_cond_t *cond) { return 0; }
static inline void __fencepost_cond_begin(pthread_cond_t *cond, pthread_mutex_t *mutex) {
	int self = (int)__fencepost_thread_self() + 1;
	__fencepost_atomic_begin();
	if (mutex->__owner != self)
		__fencepost_fail("pthread_cond_wait: the thread does not hold the mutex");
	__fencepost_assume(cond->__signal == 0);
	cond->__waiting++;
	mutex->__owner = 0;
	__fencepost_atomic_end();
}
static inline int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) {
	__fencepost_cond_begin(cond, mutex);
	__fencepost_atomic_begin();
	__fencepost_assume(cond->__signal != 0);
	cond->__waiting--;
	if (cond->__signal == 1 || cond->__waiting == 0)
		cond->__signal = 0;
	__fencepost_atomic_end();
	pthread_mutex_lock(mutex);
	return 0;
}
/* May time out at any moment without a signal. */
static inline int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
					 const struct timespec *time) {
	int result = 0;
	_Bool patient = __VERIFIER_nondet_bool();
	__fencepost_cond_begin(cond, mutex);
	__fencepost_atomic_begin();
	if (patient)
		__fencepost_assume(cond->__signal != 0);
	cond->__waiting--;
	if (cond->__signal == 0)
		result = ETIMEDOUT;
	else if (cond->__signal == 1 || cond->__waiting == 0)
		cond->__signal = 0;
	__fencepost_atomic_end();
	pthread_mutex_lock(mutex);
	return result;
}
static inline int pthread_cond_signal(pthread_cond_t *cond) {
	__fencepost_atomic_begin();
	__fencepost_assume(cond->__signal == 0);
	if (cond->__waiting)
		cond->__signal = 1;
	__fencepost_atomic_end();
	return 0;
}
static inline int pthread_cond_broadcast(pthread_cond_t *cond) {
	__fencepost_atomic_begin();
	__fencepost_assume(cond->__signal == 0);
	if (cond->__waiting)
		cond->__signal = 2;
	__fencepost_atomic_end();
	return 0;
}

/* Spin locks. */
typedef struct { int __owner; } pthread_spinlock_t;
static inline int pthread_spin_init(pthread_spinlock_t *lock, int shared) {
	lock->__owner = 0;
	return 0;
}
static inline int pthread_spin_destroy(pthread_spinlock_t *lock) { return 0; }
static inline int pthread_spin_lock(pthread_spinlock_t *lock) {
	int self = (int)__fencepost_thread_self() + 1;
	__fencepost_atomic_begin();
	__fencepost_assume(lock->__owner == 0);
	lock->__owner = self;
	__fencepost_atomic_end();
	return 0;
}
static inline int pthread_spin_trylock(pthread_spinlock_t *lock) {
	int self = (int)__fencepost_thread_self() + 1;
	int result = 0;
	__fencepost_atomic_begin();
	if (lock->__owner == 0)
		lock->__owner = self;
	else
		result = EBUSY;
	__fencepost_atomic_end();
	return result;
}
static inline int pthread_spin_unlock(pthread_spinlock_t *lock) {
	int self = (int)__fencepost_thread_self() + 1;
	__fencepost_atomic_begin();
	if (lock->__owner != self)
		__fencepost_fail("pthread_spin_unlock: the thread does not hold the lock");
	lock->__owner = 0;
	__fencepost_atomic_end();
	return 0;
}

/* Locks for readers and writers. */
typedef struct { int __writer; int __readers; } pthread_rwlock_t;
typedef struct { int __unused; } pthread_rwlockattr_t;
#define PTHREAD_RWLOCK_INITIALIZER { 0, 0 }
static inline int pthread_rwlock_init(pthread_rwlock_t *lock,
				      const pthread_rwlockattr_t *attributes) {
	lock->__writer = 0;
	lock->__readers = 0;
	return 0;
}
static inline int pthread_rwlock_destroy(pthread_rwlock_t *lock) { return 0; }
static inline int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
	__fencepost_atomic_begin();
	__fencepost_assume(lock->__writer == 0);
	lock->__readers++;
	__fencepost_atomic_end();
	return 0;
}
static inline int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
	int result = 0;
	__fencepost_atomic_begin();
	if (lock->__writer == 0)
		lock->__readers++;
	else
		result = EBUSY;
	__fencepost_atomic_end();
	return result;
}
static inline int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
	int self = (int)__fencepost_thread_self() + 1;
	__fencepost_atomic_begin();
	__fencepost_assume(lock->__writer == 0 && lock->__readers == 0);
	lock->__writer = self;
	__fencepost_atomic_end();
	return 0;
}
static inline int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
	int self = (int)__fencepost_thread_self() + 1;
	int result = 0;
	__fencepost_atomic_begin();
	if (lock->__writer == 0 && lock->__readers == 0)
		lock->__writer = self;
	else
		result = EBUSY;
	__fencepost_atomic_end();
	return result;
}
static inline int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
	int self = (int)__fencepost_thread_self() + 1;
	__fencepost_atomic_begin();
	if (lock->__writer == self)
		lock->__writer = 0;
	else if (lock->__readers > 0)
		lock->__readers--;
	else
		__fencepost_fail("pthread_rwlock_unlock: the thread does not hold the lock");
	__fencepost_atomic_end();
	return 0;
}

/* Barriers. `__state` counts the threads that have arrived. When the last one arrives it becomes
   negative and counts the threads that have yet to leave; until then no thread arrives. */
typedef struct { int __count; int __state; } pthread_barrier_t;
typedef struct { int __unused; } pthread_barrierattr_t;
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
static inline int pthread_barrier_init(pthread_barrier_t *barrier,
				       const pthread_barrierattr_t *attributes, unsigned count) {
	if (count == 0)
		return EINVAL;
	barrier->__count = (int)count;
	barrier->__state = 0;
	return 0;
}
static inline int pthread_barrier_destroy(pthread_barrier_t *barrier) { return 0; }
static inline int pthread_barrier_wait(pthread_barrier_t *barrier) {
	_Bool last;
	__fencepost_atomic_begin();
	__fencepost_assume(barrier->__state >= 0);
	last = barrier->__state + 1 == barrier->__count;
	barrier->__state = last ? 1 - barrier->__count : barrier->__state + 1;
	__fencepost_atomic_end();
	if (last)
		return PTHREAD_BARRIER_SERIAL_THREAD;
	__fencepost_atomic_begin();
	__fencepost_assume(barrier->__state < 0);
	barrier->__state++;
	__fencepost_atomic_end();
	return 0;
}

/* A function that runs once: 0 before, 1 during and 2 after it. */
typedef int pthread_once_t;
#define PTHREAD_ONCE_INIT 0
static inline int pthread_once(pthread_once_t *once, void (*function)(void)) {
	_Bool first;
	__fencepost_atomic_begin();
	__fencepost_assume(*once != 1);
	first = *once == 0;
	if (first)
		*once = 1;
	__fencepost_atomic_end();
	if (first) {
		function();
		__fencepost_atomic_begin();
		*once = 2;
		__fencepost_atomic_end();
	}
	return 0;
}

/* Values of each thread. Destructors are not called. */
typedef unsigned int pthread_key_t;
#define PTHREAD_KEYS_MAX 8
static unsigned int __fencepost_keys;
static _Thread_local void *__fencepost_values[PTHREAD_KEYS_MAX];
static inline int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
	unsigned int next;
	__fencepost_atomic_begin();
	next = __fencepost_keys;
	__fencepost_keys = next + 1;
	__fencepost_atomic_end();
	*key = next;
	return next < PTHREAD_KEYS_MAX ? 0 : EAGAIN;
}
static inline int pthread_key_delete(pthread_key_t key) { return 0; }
static inline void *pthread_getspecific(pthread_key_t key) { return __fencepost_values[key]; }
static inline int pthread_setspecific(pthread_key_t key, const void *value) {
	__fencepost_values[key] = (void *)value;
	return 0;
}
