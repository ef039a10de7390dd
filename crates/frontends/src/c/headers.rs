//! Our own headers: the library of C programs, written in C over a few intrinsic functions.
//!
//! The headers are small and have no names of an operating system, so that every program means the
//! same on every machine. The intrinsic functions (`__fencepost_...`) are resolved by name in
//! [`super::check`].
//!
//! [`PRELUDE`] is included before every program. It has the names of the Linux kernel that test
//! programs use without an `#include`. (Names of verifiers such as `__VERIFIER_assume` need no
//! header: they are resolved by name.) Definitions of the user win:
//!
//! - A `#define` of the user replaces a macro of our headers without a warning. A macro of the
//!   prelude also ends where the user declares a function with its name at file scope, and it is
//!   not used for members.
//! - A function of our headers is dropped if the user defines the same name, and a mere declaration
//!   of the user is dropped in favour of the function here ([`super::parse::overrides`]).

/// The name of the file with the predefined macros.
pub const PREDEFINED: &str = "fencepost-predefined.h";

/// The name of the header that is always included.
pub const PRELUDE: &str = "fencepost-builtin.h";

macro_rules! headers {
    ($($name:literal)*) => {
        /// The built-in headers: names and texts.
        const HEADERS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("headers/", $name)))),*];
    };
}

headers! {
    "assert.h" "dat3m.h" "errno.h" "genmc.h" "immintrin.h" "inttypes.h" "limits.h" "linux/atomic.h"
    "lkmm.h" "pthread.h" "sched.h" "semaphore.h" "signal.h" "stdalign.h" "stdarg.h" "stdatomic.h"
    "stdbool.h" "stddef.h" "stdint.h" "stdio.h" "stdlib.h" "stdnoreturn.h" "string.h" "sys/types.h"
    "threads.h" "time.h" "unistd.h"
}

/// Other names of headers: what the file has, and the header that we use.
const ALIASES: &[(&str, &str)] = &[
    ("linux/compiler.h", "lkmm.h"),
    ("linux/kernel.h", "lkmm.h"),
    ("linux/types.h", "lkmm.h"),
    ("asm/barrier.h", "lkmm.h"),
    ("asm/atomic.h", "linux/atomic.h"),
    ("emmintrin.h", "immintrin.h"),
    ("x86intrin.h", "immintrin.h"),
    ("xmmintrin.h", "immintrin.h"),
    ("malloc.h", "stdlib.h"),
    ("memory.h", "string.h"),
    ("strings.h", "string.h"),
    ("sys/time.h", "time.h"),
];

/// Headers of C++ and what a C program includes instead.
const CPLUSPLUS: &[(&str, &str)] = &[
    ("atomic", "stdatomic.h"),
    ("thread", "pthread.h"),
    ("mutex", "pthread.h"),
    ("condition_variable", "pthread.h"),
    ("cassert", "assert.h"),
    ("cstdint", "stdint.h"),
    ("cstdlib", "stdlib.h"),
    ("cstdio", "stdio.h"),
    ("cstring", "string.h"),
    ("cstddef", "stddef.h"),
    ("iostream", "stdio.h"),
];

/// Returns the predefined macros.
pub fn predefined() -> &'static str {
    include_str!("headers/fencepost-predefined.h")
}

/// Returns the text of the header that is always included.
pub fn prelude() -> &'static str {
    include_str!("headers/fencepost-builtin.h")
}

/// Returns the name and text of a built-in header.
pub fn find(name: &str) -> Option<(&'static str, &'static str)> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, used)| used);
    HEADERS.iter().copied().find(|(known, _)| *known == alias)
}

/// Returns the names and texts of all headers, also of those that every program includes.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let always = [(PRELUDE, prelude()), (PREDEFINED, predefined())];
    HEADERS.iter().copied().chain(always)
}

/// Returns the names of the built-in headers.
pub fn names() -> impl Iterator<Item = &'static str> {
    HEADERS.iter().map(|(name, _)| *name)
}

/// Returns the hint for a header that does not exist.
pub fn missing_hint(name: &str) -> String {
    if let Some((_, used)) = CPLUSPLUS.iter().find(|(known, _)| *known == name) {
        return format!("`<{name}>` is a header of C++: in C, include `<{used}>`");
    }
    let names: Vec<String> = names().map(|name| format!("<{name}>")).collect();
    let names = names.join(", ");
    format!("`-I DIR` adds a folder with headers; the built-in headers are {names}")
}
