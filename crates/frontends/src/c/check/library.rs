//! The table of known functions: what each name means.
//!
//! A function that the program defines itself is not looked up here. The names are those of our own
//! headers (`__fencepost_*`), of compilers (`__atomic_*`, `__sync_*`, `__builtin_*`), of other
//! verifiers (`__VERIFIER_*`, `__CPROVER_*`) and of the C library.

use fencepost_ir::FenceKinds;

use super::bits::BitCount;
use super::types::bool_type;
use super::{int, void_pointer};
use crate::c::typed::{BinaryOp, Type, Yields};

/// The meaning of a known function. The comments list the arguments.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Known {
    /// `(p, order)`.
    AtomicLoad,
    /// `(p, result, order)`.
    AtomicLoadInto,
    /// `(p, v, order)`.
    AtomicStore,
    /// `(p, value pointer, order)`.
    AtomicStoreFrom,
    /// `(p, v, order)`.
    Exchange,
    /// `(p, value pointer, result pointer, order)`.
    ExchangeInto,
    /// `(p, expected pointer, desired, weak, success, failure)`.
    CompareExchange {
        /// Whether `desired` is a pointer to the value.
        from_pointer: bool,
    },
    /// `(p, expected, desired, order)`.
    CompareSwap(Yields),
    /// `(p, v, order)`.
    Fetch {
        op: BinaryOp,
        yields: Yields,
        /// Whether a number that is added to a pointer counts elements, as in C11.
        scaled: bool,
    },
    /// `(order)`.
    Fence,
    /// `(p, order)`.
    TestAndSet,
    /// `(p, order)`.
    Clear,
    /// Any arguments: the answer is 1.
    LockFree,
    /// `(p, v, ...)`, with full order.
    SyncFetch(BinaryOp, Yields),
    /// `(p, expected, desired, ...)`, with full order.
    SyncSwap(Yields),
    /// `()`.
    SyncFence,
    /// `(p, v, ...)`, acquire.
    SyncExchange,
    /// `(p, ...)`, release.
    SyncRelease,
    /// `(function, argument)`.
    ThreadCreate,
    /// `(attributes, function, argument)`.
    ThreadCreateWith,
    /// `(id)`.
    ThreadJoin,
    /// `(value)`.
    ThreadExit,
    /// `()`.
    ThreadSelf,
    /// `(condition)`.
    Assume,
    /// `(condition)` or `(condition, text)`.
    Assert,
    /// Any arguments; one of them may be a text.
    Fail,
    /// Any arguments.
    Exit,
    /// Any value of a type, if the function is not declared.
    Nondet(Type),
    /// `()`.
    AtomicBegin,
    /// `()`.
    AtomicEnd,
    /// Any arguments, which are evaluated.
    NoEffect,
    /// `(size)`.
    Allocate,
    /// `(alignment, size)`.
    AllocateAligned,
    /// `(result pointer, alignment, size)`.
    AllocateInto,
    /// `(count, size)`.
    AllocateZero,
    /// `(pointer, size)`.
    Reallocate,
    /// `(pointer)`.
    Free,
    /// `(target, source, size)`.
    MemoryCopy,
    /// `(target, value, size)`.
    MemorySet,
    /// `(value, ...)`: the value, as a `long`.
    Expect,
    /// `(value, ...)`: the value.
    Same,
    /// `(value)`: whether it is a constant.
    IsConstant,
    /// `(value)`.
    Bits(BitCount, u8),
    /// `()`.
    MachineFence(FenceKinds),
    /// Not supported: what to do instead.
    Rejected(&'static str),
}

/// Returns the meaning of a function that the program does not define.
pub(super) fn known(name: &str) -> Option<Known> {
    if let Some(rest) = name.strip_prefix("__fencepost_") {
        return own(rest);
    }
    if let Some(rest) = name.strip_prefix("__atomic_") {
        return gnu_atomic(rest);
    }
    if let Some(rest) = name.strip_prefix("__sync_") {
        return gnu_sync(rest);
    }
    if let Some(rest) = name.strip_prefix("__VERIFIER_") {
        return verifier(rest);
    }
    if let Some(rest) = name.strip_prefix("__CPROVER_") {
        return cprover(rest);
    }
    if let Some(rest) = name.strip_prefix("__builtin_") {
        return builtin(rest);
    }
    c_library(name)
}

/// Returns the header that declares a function, for hints.
pub(super) fn header_of(name: &str) -> Option<&'static str> {
    const PREFIXES: &[(&str, &str)] = &[
        ("atomic_", "stdatomic.h"),
        ("pthread_", "pthread.h"),
        ("thrd_", "threads.h"),
        ("mtx_", "threads.h"),
        ("cnd_", "threads.h"),
        ("tss_", "threads.h"),
        ("call_once", "threads.h"),
        ("sem_", "semaphore.h"),
    ];
    PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, header)| *header)
}

fn operation(word: &str) -> Option<BinaryOp> {
    Some(match word {
        "add" => BinaryOp::Add,
        "sub" => BinaryOp::Sub,
        "and" => BinaryOp::BitAnd,
        "or" => BinaryOp::BitOr,
        "xor" => BinaryOp::BitXor,
        _ => return None,
    })
}

/// `fetch_add` and `add_fetch`.
fn fetch(name: &str, scaled: bool) -> Option<Known> {
    if let Some(op) = name.strip_prefix("fetch_").and_then(operation) {
        return Some(Known::Fetch { op, yields: Yields::Old, scaled });
    }
    let op = operation(name.strip_suffix("_fetch")?)?;
    Some(Known::Fetch { op, yields: Yields::New, scaled })
}

/// Functions of our own headers.
fn own(name: &str) -> Option<Known> {
    Some(match name {
        "atomic_load" => Known::AtomicLoad,
        "atomic_store" => Known::AtomicStore,
        "exchange" => Known::Exchange,
        "compare_exchange" => Known::CompareExchange { from_pointer: false },
        "compare_swap" => Known::CompareSwap(Yields::Old),
        "compare_swap_ok" => Known::CompareSwap(Yields::Success),
        "fence" => Known::Fence,
        "thread_create" => Known::ThreadCreate,
        "thread_join" => Known::ThreadJoin,
        "thread_exit" => Known::ThreadExit,
        "thread_self" => Known::ThreadSelf,
        "assume" => Known::Assume,
        "assert" => Known::Assert,
        "fail" => Known::Fail,
        "exit" => Known::Exit,
        "nondet" => Known::Nondet(int()),
        "atomic_begin" => Known::AtomicBegin,
        "atomic_end" => Known::AtomicEnd,
        "no_effect" => Known::NoEffect,
        _ => return fetch(name, true),
    })
}

fn gnu_atomic(name: &str) -> Option<Known> {
    Some(match name {
        "load_n" => Known::AtomicLoad,
        "load" => Known::AtomicLoadInto,
        "store_n" => Known::AtomicStore,
        "store" => Known::AtomicStoreFrom,
        "exchange_n" => Known::Exchange,
        "exchange" => Known::ExchangeInto,
        "compare_exchange_n" => Known::CompareExchange { from_pointer: false },
        "compare_exchange" => Known::CompareExchange { from_pointer: true },
        "thread_fence" => Known::Fence,
        // It only restricts the compiler.
        "signal_fence" => Known::NoEffect,
        "test_and_set" => Known::TestAndSet,
        "clear" => Known::Clear,
        "is_lock_free" | "always_lock_free" => Known::LockFree,
        _ => return fetch(name, false),
    })
}

fn gnu_sync(name: &str) -> Option<Known> {
    Some(match name {
        "synchronize" => Known::SyncFence,
        "val_compare_and_swap" => Known::SyncSwap(Yields::Old),
        "bool_compare_and_swap" => Known::SyncSwap(Yields::Success),
        "lock_test_and_set" => Known::SyncExchange,
        "lock_release" => Known::SyncRelease,
        _ => {
            if let Some(op) = name.strip_prefix("fetch_and_").and_then(operation) {
                return Some(Known::SyncFetch(op, Yields::Old));
            }
            let op = operation(name.strip_suffix("_and_fetch")?)?;
            Known::SyncFetch(op, Yields::New)
        }
    })
}

/// Functions of SV-COMP and GenMC.
fn verifier(name: &str) -> Option<Known> {
    if let Some(word) = name.strip_prefix("nondet_") {
        return Some(Known::Nondet(nondet_type(word)));
    }
    Some(match name {
        "assume" => Known::Assume,
        "assert" => Known::Assert,
        "error" => Known::Fail,
        "atomic_begin" => Known::AtomicBegin,
        "atomic_end" => Known::AtomicEnd,
        "spawn" => Known::ThreadCreate,
        "thread_create" => Known::ThreadCreateWith,
        "join" | "thread_join" => Known::ThreadJoin,
        "thread_exit" => Known::ThreadExit,
        "thread_self" => Known::ThreadSelf,
        "malloc" => Known::Allocate,
        "malloc_aligned" => Known::AllocateAligned,
        "free" => Known::Free,
        // Annotations that make GenMC faster.
        "loop_begin" | "loop_bound" | "spin_start" | "spin_end" | "faiZNE_spin_end"
        | "lockZNE_spin_end" | "kill_thread" | "optional" | "opt_begin" | "opt_end"
        | "local_write" | "final_write" => Known::NoEffect,
        _ => return None,
    })
}

/// Returns the type of `__VERIFIER_nondet_word`.
fn nondet_type(word: &str) -> Type {
    match word {
        "bool" | "_Bool" => bool_type(),
        "char" | "schar" | "int8_t" | "s8" => Type::int(8, true),
        "uchar" | "uint8_t" | "u8" => Type::int(8, false),
        "short" | "int16_t" | "s16" => Type::int(16, true),
        "ushort" | "uint16_t" | "u16" => Type::int(16, false),
        "uint" | "unsigned" | "unsigned_int" | "uint32_t" | "u32" => Type::int(32, false),
        "long" | "longlong" | "loff_t" | "int64_t" | "s64" => Type::int(64, true),
        "ulong" | "ulonglong" | "size_t" | "uint64_t" | "u64" => Type::int(64, false),
        "pointer" | "pchar" => void_pointer(),
        _ => int(),
    }
}

fn cprover(name: &str) -> Option<Known> {
    Some(match name {
        "assume" => Known::Assume,
        "assert" => Known::Assert,
        "atomic_begin" => Known::AtomicBegin,
        "atomic_end" => Known::AtomicEnd,
        _ => return None,
    })
}

fn builtin(name: &str) -> Option<Known> {
    let bits = |word: &str, count: BitCount| match name.strip_prefix(word) {
        Some("") => Some(Known::Bits(count, 32)),
        Some("l" | "ll") => Some(Known::Bits(count, 64)),
        _ => None,
    };
    let counted = bits("popcount", BitCount::Ones)
        .or_else(|| bits("ctz", BitCount::TrailingZeros))
        .or_else(|| bits("clz", BitCount::LeadingZeros))
        .or_else(|| bits("ffs", BitCount::FirstSet))
        .or_else(|| bits("parity", BitCount::Parity));
    if counted.is_some() {
        return counted;
    }
    Some(match name {
        "expect" | "expect_with_probability" => Known::Expect,
        "assume_aligned" => Known::Same,
        "constant_p" => Known::IsConstant,
        "unreachable" | "trap" => Known::Fail,
        "prefetch" | "assume" | "ia32_pause" | "clear_padding" => Known::NoEffect,
        "ia32_mfence" => Known::MachineFence(FenceKinds::FULL),
        "ia32_sfence" => Known::MachineFence(FenceKinds::STORE_STORE),
        "ia32_lfence" => Known::MachineFence(FenceKinds::ACQUIRE),
        _ => return c_library(name),
    })
}

/// Functions of the C library and POSIX.
fn c_library(name: &str) -> Option<Known> {
    if NO_EFFECT.binary_search(&name).is_ok() {
        return Some(Known::NoEffect);
    }
    Some(match name {
        "malloc" | "valloc" => Known::Allocate,
        "aligned_alloc" | "memalign" => Known::AllocateAligned,
        "posix_memalign" => Known::AllocateInto,
        "calloc" => Known::AllocateZero,
        "realloc" => Known::Reallocate,
        "free" | "cfree" => Known::Free,
        "memcpy" | "memmove" => Known::MemoryCopy,
        "memset" => Known::MemorySet,
        "abort" | "reach_error" | "__assert_fail" | "__assert_rtn" | "__assert" => Known::Fail,
        "exit" | "_Exit" | "_exit" | "quick_exit" => Known::Exit,
        "pthread_exit" | "thrd_exit" => Known::ThreadExit,
        "rand" | "random" | "lrand48" => Known::Nondet(int()),
        "_mm_mfence" => Known::MachineFence(FenceKinds::FULL),
        "_mm_sfence" => Known::MachineFence(FenceKinds::STORE_STORE),
        "_mm_lfence" => Known::MachineFence(FenceKinds::ACQUIRE),
        "alloca" => Known::Rejected("use an array of constant size, or `malloc`"),
        "memcmp" | "strcmp" | "strncmp" | "strlen" | "strcpy" | "strncpy" | "strcat" | "strchr"
        | "strdup" | "strtol" | "atoi" | "qsort" | "bsearch" => {
            Known::Rejected("write the loop in the program: fencepost checks whole programs")
        }
        "scanf" | "fscanf" | "sscanf" | "fgets" | "getchar" | "read" | "fread" => {
            Known::Rejected("use `__VERIFIER_nondet_int()` for an unknown input")
        }
        "sprintf" | "snprintf" | "vsprintf" | "vsnprintf" => {
            Known::Rejected("use `printf`: output has no effect")
        }
        "setjmp" | "longjmp" | "fork" | "signal" | "sigaction" => {
            Known::Rejected("programs consist of threads and calls")
        }
        _ => return None,
    })
}

/// Functions whose effect no other thread can observe, sorted. Those that return a time or write
/// one leave it 0.
const NO_EFFECT: &[&str] = &[
    "__VERIFIER_print",
    "_mm_pause",
    "_mm_prefetch",
    "alarm",
    "atexit",
    "clearerr",
    "clock",
    "clock_gettime",
    "clock_nanosleep",
    "cpu_relax",
    "err",
    "errx",
    "fclose",
    "fflush",
    "fopen",
    "fprintf",
    "fputc",
    "fputs",
    "fwrite",
    "getenv",
    "getpid",
    "gettid",
    "gettimeofday",
    "mlockall",
    "nanosleep",
    "perror",
    "printf",
    "pthread_attr_destroy",
    "pthread_attr_getstacksize",
    "pthread_attr_init",
    "pthread_attr_setdetachstate",
    "pthread_attr_setscope",
    "pthread_attr_setstacksize",
    "pthread_setaffinity_np",
    "pthread_setconcurrency",
    "pthread_setname_np",
    "pthread_yield",
    "putc",
    "putchar",
    "puts",
    "sched_setaffinity",
    "sched_yield",
    "setbuf",
    "setlocale",
    "setvbuf",
    "sleep",
    "srand",
    "srand48",
    "srandom",
    "strerror",
    "syslog",
    "thrd_sleep",
    "thrd_yield",
    "time",
    "usleep",
    "vfprintf",
    "vprintf",
    "warn",
    "warnx",
    "write",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_without_effects_is_sorted() {
        assert!(NO_EFFECT.is_sorted());
    }

    #[test]
    fn families_of_names_are_known() {
        let op = BinaryOp::Add;
        let fetch = |yields, scaled| Some(Known::Fetch { op, yields, scaled });
        assert_eq!(known("__fencepost_fetch_add"), fetch(Yields::Old, true));
        assert_eq!(known("__atomic_add_fetch"), fetch(Yields::New, false));
        assert_eq!(known("__sync_fetch_and_add"), Some(Known::SyncFetch(op, Yields::Old)));
        assert_eq!(known("__builtin_ctzll"), Some(Known::Bits(BitCount::TrailingZeros, 64)));
        assert_eq!(known("__builtin_memcpy"), Some(Known::MemoryCopy));
        assert_eq!(known("__VERIFIER_nondet_bool"), Some(Known::Nondet(bool_type())));
        assert_eq!(known("printf"), Some(Known::NoEffect));
        assert_eq!(known("frobnicate"), None);
        assert_eq!(known("__atomic_nand_fetch"), None);
    }
}
