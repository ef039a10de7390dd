/* Predefined macros. No architecture is defined, so that programs use their portable code. */
#define __FENCEPOST__ 1
#define __STDC__ 1
#define __STDC_VERSION__ 201112L
#define __STDC_HOSTED__ 1
#define __STDC_NO_COMPLEX__ 1
#define __GNUC__ 4
#define __GNUC_MINOR__ 9
#define __GNUC_PATCHLEVEL__ 0
#define __DATE__ "Jan  1 2000"
#define __TIME__ "00:00:00"

#define __CHAR_BIT__ 8
#define __SCHAR_MAX__ 127
#define __SHRT_MAX__ 32767
#define __INT_MAX__ 2147483647
#define __LONG_MAX__ 9223372036854775807L
#define __LONG_LONG_MAX__ 9223372036854775807LL
#define __SIZE_MAX__ 18446744073709551615UL
#define __SIZEOF_SHORT__ 2
#define __SIZEOF_INT__ 4
#define __SIZEOF_LONG__ 8
#define __SIZEOF_LONG_LONG__ 8
#define __SIZEOF_POINTER__ 8
#define __SIZEOF_SIZE_T__ 8
#define __SIZE_TYPE__ unsigned long
#define __PTRDIFF_TYPE__ long
#define __WCHAR_TYPE__ int
#define __INTPTR_TYPE__ long
#define __UINTPTR_TYPE__ unsigned long
#define __LP64__ 1
#define _LP64 1
#define __ORDER_LITTLE_ENDIAN__ 1234
#define __ORDER_BIG_ENDIAN__ 4321
#define __BYTE_ORDER__ __ORDER_LITTLE_ENDIAN__

/* The values are those of the memory orders of the checker. */
#define __ATOMIC_RELAXED 0
#define __ATOMIC_CONSUME 1
#define __ATOMIC_ACQUIRE 1
#define __ATOMIC_RELEASE 2
#define __ATOMIC_ACQ_REL 3
#define __ATOMIC_SEQ_CST 4

#define _Pragma(text)
#define __has_attribute(name) 0
#define __has_builtin(name) 0
#define __has_feature(name) 0
#define __has_extension(name) 0
#define __has_c_attribute(name) 0

#define __builtin_va_start(list, last) __fencepost_no_effect()
#define __builtin_va_end(list) __fencepost_no_effect()
#define __builtin_va_copy(to, from) __fencepost_no_effect()
