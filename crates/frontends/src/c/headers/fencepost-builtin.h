/* Names of the Linux kernel, which programs use without an #include. A definition of the user
   replaces each of them. Names of verifiers (__VERIFIER_..., __CPROVER_...) and of compilers
   (__builtin_..., __atomic_..., __sync_...) need no header: the checker of types knows them. */

typedef char *__builtin_va_list;

/* Order 5 is that of functions without a suffix. DIVERGENCE: smp_rmb also orders loads before later
   stores. */
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
