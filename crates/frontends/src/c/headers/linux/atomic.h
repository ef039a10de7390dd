#pragma once
#include <lkmm.h>
/* The atomic_t of the Linux kernel. Functions that return a value have order 5 (full) without a
   suffix; those without a value are relaxed. */
typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic64_t;
typedef struct { long counter; } atomic_long_t;
#define ATOMIC_INIT(value) { (value) }
#define atomic_read(object) __fencepost_atomic_load(&(object)->counter, 0)
#define atomic_read_acquire(object) __fencepost_atomic_load(&(object)->counter, 1)
#define atomic_set(object, value) __fencepost_atomic_store(&(object)->counter, (value), 0)
#define atomic_set_release(object, value) __fencepost_atomic_store(&(object)->counter, (value), 2)
#define atomic_add(value, object) ((void)__fencepost_fetch_add(&(object)->counter, (value), 0))
#define atomic_sub(value, object) ((void)__fencepost_fetch_sub(&(object)->counter, (value), 0))
#define atomic_inc(object) ((void)__fencepost_fetch_add(&(object)->counter, 1, 0))
#define atomic_dec(object) ((void)__fencepost_fetch_sub(&(object)->counter, 1, 0))
#define atomic_add_return(value, object) __fencepost_add_fetch(&(object)->counter, (value), 5)
#define atomic_add_return_relaxed(value, object) \
	__fencepost_add_fetch(&(object)->counter, (value), 0)
#define atomic_add_return_acquire(value, object) \
	__fencepost_add_fetch(&(object)->counter, (value), 1)
#define atomic_add_return_release(value, object) \
	__fencepost_add_fetch(&(object)->counter, (value), 2)
#define atomic_sub_return(value, object) __fencepost_sub_fetch(&(object)->counter, (value), 5)
#define atomic_inc_return(object) __fencepost_add_fetch(&(object)->counter, 1, 5)
#define atomic_dec_return(object) __fencepost_sub_fetch(&(object)->counter, 1, 5)
#define atomic_fetch_add(value, object) __fencepost_fetch_add(&(object)->counter, (value), 5)
#define atomic_fetch_add_relaxed(value, object) \
	__fencepost_fetch_add(&(object)->counter, (value), 0)
#define atomic_fetch_add_acquire(value, object) \
	__fencepost_fetch_add(&(object)->counter, (value), 1)
#define atomic_fetch_add_release(value, object) \
	__fencepost_fetch_add(&(object)->counter, (value), 2)
#define atomic_fetch_sub(value, object) __fencepost_fetch_sub(&(object)->counter, (value), 5)
#define atomic_fetch_inc(object) __fencepost_fetch_add(&(object)->counter, 1, 5)
#define atomic_fetch_dec(object) __fencepost_fetch_sub(&(object)->counter, 1, 5)
#define atomic_inc_and_test(object) (__fencepost_add_fetch(&(object)->counter, 1, 5) == 0)
#define atomic_dec_and_test(object) (__fencepost_sub_fetch(&(object)->counter, 1, 5) == 0)
#define atomic_sub_and_test(value, object) \
	(__fencepost_sub_fetch(&(object)->counter, (value), 5) == 0)
#define atomic_xchg(object, value) __fencepost_exchange(&(object)->counter, (value), 5)
#define atomic_xchg_relaxed(object, value) __fencepost_exchange(&(object)->counter, (value), 0)
#define atomic_xchg_acquire(object, value) __fencepost_exchange(&(object)->counter, (value), 1)
#define atomic_xchg_release(object, value) __fencepost_exchange(&(object)->counter, (value), 2)
#define atomic_cmpxchg(object, old, new) \
	__fencepost_compare_swap(&(object)->counter, (old), (new), 5)
#define atomic_cmpxchg_relaxed(object, old, new) \
	__fencepost_compare_swap(&(object)->counter, (old), (new), 0)
#define atomic_cmpxchg_acquire(object, old, new) \
	__fencepost_compare_swap(&(object)->counter, (old), (new), 1)
#define atomic_cmpxchg_release(object, old, new) \
	__fencepost_compare_swap(&(object)->counter, (old), (new), 2)
