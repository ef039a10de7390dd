#pragma once
/* Types and locks of the Linux kernel. READ_ONCE and others need no #include. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

typedef struct { int __owner; } spinlock_t;
#define DEFINE_SPINLOCK(name) spinlock_t name
#define spin_lock_init(lock) ((void)((lock)->__owner = 0))
static inline void spin_lock(spinlock_t *lock) {
	int self = (int)__fencepost_thread_self() + 1;
	__fencepost_atomic_begin();
	__fencepost_assume(lock->__owner == 0);
	lock->__owner = self;
	__fencepost_atomic_end();
}
static inline int spin_trylock(spinlock_t *lock) {
	int self = (int)__fencepost_thread_self() + 1;
	int taken = 0;
	__fencepost_atomic_begin();
	if (lock->__owner == 0) {
		lock->__owner = self;
		taken = 1;
	}
	__fencepost_atomic_end();
	return taken;
}
static inline void spin_unlock(spinlock_t *lock) {
	int self = (int)__fencepost_thread_self() + 1;
	__fencepost_atomic_begin();
	if (lock->__owner != self)
		__fencepost_fail("spin_unlock: the thread does not hold the lock");
	lock->__owner = 0;
	__fencepost_atomic_end();
}
