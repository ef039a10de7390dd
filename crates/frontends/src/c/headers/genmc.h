#pragma once
/* Names of GenMC that are not functions. Annotations that only make GenMC faster have no effect. */
#include <stdbool.h>
#include <stddef.h>
#define __VERIFIER_optional(...) do { __VA_ARGS__; } while (0)
#define __VERIFIER_local_write(...) __VA_ARGS__
#define __VERIFIER_final_write(...) __VA_ARGS__
#define __VERIFIER_speculative_read(...) __VA_ARGS__
#define __VERIFIER_confirming_read(...) __VA_ARGS__
#define __VERIFIER_confirming_CAS(...) __VA_ARGS__
#define __VERIFIER_helped_CAS(...) __VA_ARGS__
#define __VERIFIER_helping_CAS(...) __VA_ARGS__
#define __VERIFIER_final_CAS(...) __VA_ARGS__

/* Hazard pointers: a correct scheme that never frees. */
typedef struct { int __unused; } __VERIFIER_hp_t;
#define __VERIFIER_hp_alloc() ((__VERIFIER_hp_t *)0)
#define __VERIFIER_hp_protect(hp, pointer) \
	((void)(hp), __fencepost_atomic_load((pointer), 1))
#define __VERIFIER_hp_clear(hp) __fencepost_no_effect(hp)
#define __VERIFIER_hp_free(hp) __fencepost_no_effect(hp)
#define __VERIFIER_hp_retire(pointer) __fencepost_no_effect(pointer)
