#pragma once
/* Names of GenMC. Annotations that only make GenMC faster have no effect. */
#include <stdbool.h>
#include <stddef.h>
#define __VERIFIER_loop_begin() __fencepost_no_effect()
#define __VERIFIER_loop_head() __fencepost_no_effect()
#define __VERIFIER_spin_start() __fencepost_no_effect()
#define __VERIFIER_spin_end(value) __fencepost_no_effect(value)
#define __VERIFIER_faiZNE_spin_end(value) __fencepost_no_effect(value)
#define __VERIFIER_lockZNE_spin_end(value) __fencepost_no_effect(value)
#define __VERIFIER_optional(...) do { __VA_ARGS__; } while (0)
#define __VERIFIER_local_write(...) __VA_ARGS__
#define __VERIFIER_final_write(...) __VA_ARGS__
#define __VERIFIER_speculative_read(...) __VA_ARGS__
#define __VERIFIER_confirming_read(...) __VA_ARGS__
#define __VERIFIER_confirming_CAS(...) __VA_ARGS__
#define __VERIFIER_helped_CAS(...) __VA_ARGS__
#define __VERIFIER_helping_CAS(...) __VA_ARGS__
#define __VERIFIER_final_CAS(...) __VA_ARGS__
#define __VERIFIER_join(thread) __fencepost_thread_join(thread)
#define __VERIFIER_spawn(function, argument) __fencepost_thread_create(function, argument)
#define __VERIFIER_thread_create(attributes, function, argument) \
	__fencepost_thread_create(function, argument)
#define __VERIFIER_thread_join(thread) __fencepost_thread_join(thread)
#define __VERIFIER_thread_exit(value) __fencepost_thread_exit(value)
#define __VERIFIER_thread_self() __fencepost_thread_self()
#define __VERIFIER_malloc(size) malloc(size)
#define __VERIFIER_free(pointer) free(pointer)

/* Hazard pointers: a correct scheme that never frees. */
typedef struct { int __unused; } __VERIFIER_hp_t;
#define __VERIFIER_hp_alloc() ((__VERIFIER_hp_t *)0)
#define __VERIFIER_hp_protect(hp, pointer) \
	((void)(hp), __fencepost_atomic_load((pointer), 1))
#define __VERIFIER_hp_clear(hp) __fencepost_no_effect(hp)
#define __VERIFIER_hp_free(hp) __fencepost_no_effect(hp)
#define __VERIFIER_hp_retire(pointer) __fencepost_no_effect(pointer)
