/* Names that programs use without an #include. A definition of the user replaces each of them. */

typedef char *__builtin_va_list;

void *memcpy(void *to, const void *from, unsigned long size);
void *memmove(void *to, const void *from, unsigned long size);
void *memset(void *to, int value, unsigned long size);
void *malloc(unsigned long size);
void free(void *pointer);

/* Any value. */
_Bool __VERIFIER_nondet_bool(void);
char __VERIFIER_nondet_char(void);
signed char __VERIFIER_nondet_schar(void);
unsigned char __VERIFIER_nondet_uchar(void);
short __VERIFIER_nondet_short(void);
unsigned short __VERIFIER_nondet_ushort(void);
int __VERIFIER_nondet_int(void);
unsigned int __VERIFIER_nondet_uint(void);
unsigned int __VERIFIER_nondet_unsigned(void);
unsigned int __VERIFIER_nondet_u32(void);
long __VERIFIER_nondet_long(void);
unsigned long __VERIFIER_nondet_ulong(void);
long long __VERIFIER_nondet_longlong(void);
unsigned long long __VERIFIER_nondet_ulonglong(void);
unsigned long __VERIFIER_nondet_size_t(void);
void *__VERIFIER_nondet_pointer(void);

/* Verifiers. */
#define __VERIFIER_assume(condition) __fencepost_assume(!!(condition))
#define __VERIFIER_assert(condition) __fencepost_assert(!!(condition), #condition)
#define __VERIFIER_error(...) __fencepost_fail("__VERIFIER_error")
#define __VERIFIER_atomic_begin() __fencepost_atomic_begin()
#define __VERIFIER_atomic_end() __fencepost_atomic_end()
#define __VERIFIER_loop_bound(bound) __fencepost_no_effect()
#define reach_error() __fencepost_fail("reach_error")
#define __assert_fail(text, ...) __fencepost_fail("assertion")
#define __CPROVER_assume(condition) __fencepost_assume(!!(condition))
#define __CPROVER_assert(condition, text) __fencepost_assert(!!(condition), text)
#define __CPROVER_atomic_begin() __fencepost_atomic_begin()
#define __CPROVER_atomic_end() __fencepost_atomic_end()

/* The Linux kernel. Order 5 is that of its functions without a suffix. */
#define READ_ONCE(object) __fencepost_atomic_load(&(object), 0)
#define WRITE_ONCE(object, value) __fencepost_atomic_store(&(object), (value), 0)
#define ACCESS_ONCE(object) (*(volatile __typeof__(object) *)&(object))
#define smp_load_acquire(pointer) __fencepost_atomic_load((pointer), 1)
#define smp_store_release(pointer, value) __fencepost_atomic_store((pointer), (value), 2)
#define smp_store_mb(object, value) \
	do { WRITE_ONCE(object, value); __fencepost_fence(5); } while (0)
#define smp_mb() __fencepost_fence(5)
#define smp_rmb() ({ __asm__ volatile ("lfence" ::: "memory"); })
#define smp_wmb() ({ __asm__ volatile ("sfence" ::: "memory"); })
#define smp_mb__before_atomic() __fencepost_fence(5)
#define smp_mb__after_atomic() __fencepost_fence(5)
#define smp_mb__after_spinlock() __fencepost_fence(5)
#define smp_mb__after_unlock_lock() __fencepost_fence(5)
#define rcu_dereference(object) __fencepost_atomic_load(&(object), 1)
#define rcu_assign_pointer(object, value) __fencepost_atomic_store(&(object), (value), 2)
#define xchg(pointer, value) __fencepost_exchange((pointer), (value), 5)
#define xchg_relaxed(pointer, value) __fencepost_exchange((pointer), (value), 0)
#define xchg_acquire(pointer, value) __fencepost_exchange((pointer), (value), 1)
#define xchg_release(pointer, value) __fencepost_exchange((pointer), (value), 2)
#define cmpxchg(pointer, old, new) __fencepost_compare_swap((pointer), (old), (new), 5)
#define cmpxchg_relaxed(pointer, old, new) __fencepost_compare_swap((pointer), (old), (new), 0)
#define cmpxchg_acquire(pointer, old, new) __fencepost_compare_swap((pointer), (old), (new), 1)
#define cmpxchg_release(pointer, old, new) __fencepost_compare_swap((pointer), (old), (new), 2)
#define cpu_relax() __fencepost_no_effect()
#define barrier() __fencepost_no_effect()
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define BUG_ON(condition) __fencepost_assert(!(condition), "BUG_ON(" #condition ")")

/* Bits. */
static inline int __builtin_popcountll(unsigned long long value) {
	int count = 0;
	for (; value; value &= value - 1)
		count++;
	return count;
}
static inline int __builtin_ctzll(unsigned long long value) {
	int count = 0;
	for (; !(value & 1) && count < 64; value >>= 1)
		count++;
	return count;
}
static inline int __builtin_clzll(unsigned long long value) {
	int count = 64;
	for (; value; value >>= 1)
		count--;
	return count;
}
static inline int __builtin_popcount(unsigned int value) { return __builtin_popcountll(value); }
static inline int __builtin_popcountl(unsigned long value) { return __builtin_popcountll(value); }
static inline int __builtin_ctz(unsigned int value) { return __builtin_ctzll(value); }
static inline int __builtin_ctzl(unsigned long value) { return __builtin_ctzll(value); }
static inline int __builtin_clz(unsigned int value) { return __builtin_clzll(value) - 32; }
static inline int __builtin_clzl(unsigned long value) { return __builtin_clzll(value); }
static inline int __builtin_ffsll(long long value) {
	return value ? __builtin_ctzll(value) + 1 : 0;
}
static inline int __builtin_ffsl(long value) { return __builtin_ffsll(value); }
static inline int __builtin_ffs(int value) { return value ? __builtin_ctz(value) + 1 : 0; }
