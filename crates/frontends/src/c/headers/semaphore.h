#pragma once
#include <errno.h>
#include <time.h>
typedef struct { unsigned __value; } sem_t;
#define SEM_FAILED ((sem_t *)0)
#define SEM_VALUE_MAX 2147483647
static inline int sem_init(sem_t *sem, int shared, unsigned value) {
	sem->__value = value;
	return 0;
}
static inline int sem_destroy(sem_t *sem) { return 0; }
static inline int sem_wait(sem_t *sem) {
	__fencepost_atomic_begin();
	__fencepost_assume(sem->__value != 0);
	sem->__value--;
	__fencepost_atomic_end();
	return 0;
}
static inline int sem_trywait(sem_t *sem) {
	_Bool taken;
	__fencepost_atomic_begin();
	taken = sem->__value != 0;
	if (taken)
		sem->__value--;
	__fencepost_atomic_end();
	if (taken)
		return 0;
	errno = EAGAIN;
	return -1;
}
/* May time out at any moment. */
static inline int sem_timedwait(sem_t *sem, const struct timespec *time) {
	if (__VERIFIER_nondet_bool()) {
		errno = ETIMEDOUT;
		return -1;
	}
	return sem_wait(sem);
}
static inline int sem_post(sem_t *sem) {
	__fencepost_atomic_begin();
	sem->__value++;
	__fencepost_atomic_end();
	return 0;
}
static inline int sem_getvalue(sem_t *sem, int *value) {
	int current;
	__fencepost_atomic_begin();
	current = (int)sem->__value;
	__fencepost_atomic_end();
	*value = current;
	return 0;
}
