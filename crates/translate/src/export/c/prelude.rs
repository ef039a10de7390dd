//! The head of every C program: the interface to verifiers, and its replacement for a plain run.

use super::super::names::source_names;
use super::super::text::TextWriter;
use super::PreludeParts;
use super::choice::Choices;
use fencepost_ir::{Problem, Program};

/// Reserved names: words of C, library names that compilers know or headers declare, and names of
/// the prelude.
const WORDS: &str = "\
    abort abs acos asctime asin assert assume at_quick_exit atan atan2 atexit atof atoi atol \
    atoll atomic_begin atomic_end ATOMIC auto begin_run bool break bsearch calloc cas case cbrt \
    ceil char check_invariants choose choose_any clock clone complex const continue copysign cos cosh ctime \
    daylight default EOF getchar stdin stdout stderr difftime div do double else enum erf errno exit exp exp2 expm1 extern fabs \
    false fdim fetch_add fetch_and fetch_or fetch_xor float floor fma fmax fmin fmod for fprintf \
    fputc fputs free frexp fscanf fwrite getenv gmtime goto hypot if ilogb imaxabs in_range init \
    inline int isalnum isalpha isdigit islower isprint ispunct isspace isupper labs ldexp ldiv \
    lgamma linux llabs lldiv llrint llround localtime log log10 log1p log2 logb long lrint \
    lround main malloc mblen mbstowcs mbtowc memchr memcmp memcpy memmove memory memset mktime \
    modf nan nearbyint nextafter nondet_int NULL offsetof old pow printf putc putchar puts qsort \
    quick_exit rand realloc register remainder restrict return rint round scalbn scanf short \
    signed sigaction signal sin sinh sizeof snprintf sprintf sqrt srand sscanf static strcat \
    strchr strcmp strcpy strftime strlen strncmp strtod strtol struct swap switch system tan \
    tanh tgamma threads time timezone tolower toupper true trunc typedef tzname union unix \
    unsigned unused vfprintf void volatile vprintf vsnprintf wcstombs wctomb while";

/// Returns the names that a program must not use: the words of C, the given words, and names of the
/// program that the standard or the headers reserve.
pub(in crate::export) fn reserved(program: &Program, own: &str) -> Vec<String> {
    let is_reserved = |name: &str| {
        let begins = ["_", "pthread_", "PTHREAD_", "atomic_", "ATOMIC_", "memory_order", "static_"];
        begins.iter().any(|begin| name.starts_with(begin)) || name.ends_with("_t")
    };
    let words = WORDS.split_whitespace().chain(own.split_whitespace());
    words.chain(source_names(program).filter(|name| is_reserved(name))).map(String::from).collect()
}

/// Writes the part of the leading comment that explains how to use the program.
pub(super) fn about(uses: PreludeParts, problem: &Problem, out: &mut TextWriter<'_>) {
    let mut all = |lines: &[&str]| lines.iter().for_each(|line| out.line(line));
    all(&[
        " *",
        " * Sequentially consistent. To run: cc -std=c11 -pthread. A run without a failed assertion proves nothing about",
        " * other runs. CBMC: --no-pointer-check --no-pointer-primitive-check (CBMC 6 does not check pointers in programs",
        " * with threads). GenMC: --sc; its header genmc.h is recognised. Nidhugg and similar tools: -DFENCEPOST_VERIFIER.",
        " * Run the tool a second time with -DFENCEPOST_REACHABLE: the assertion \"end of run\" must FAIL. If it does not",
        " * fail, the tool has explored no run to its end, and \"no errors\" means nothing.",
    ]);
    if uses.choose {
        all(&[" * Tools other than CBMC explore choose() as a race of threads."]);
    }
    if uses.locked {
        all(&[" * Code between atomic_begin and atomic_end, and in ATOMIC(...), is one step."]);
    }
    if !problem.may_hang && problem.program.may_wait_forever() {
        all(&[" * Hangs are not checked: threads that wait forever."]);
    }
    all(&[" * Overflow is also a fault of the program: let the verifier check for it."]);
}

/// Writes the head of the program.
pub(super) fn write(uses: PreludeParts, choices: &Choices, out: &mut TextWriter<'_>) {
    let mut all = |lines: &[&str]| lines.iter().for_each(|line| out.line(line));
    all(&["#include <assert.h>", "#include <pthread.h>"]);
    if !uses.locked {
        all(&["#include <stdatomic.h>"]);
    }
    if uses.assume || uses.choose {
        all(&["#include <stdlib.h>"]);
    }
    if uses.choose {
        all(&["#include <time.h>"]);
    }
    if uses.assume || uses.choose {
        all(&[
            "",
            "#if defined(__has_include) && !defined(__CPROVER__)",
            "#if __has_include(<genmc.h>)",
            "#include <genmc.h>",
            "#define FENCEPOST_GENMC",
            "#endif",
            "#endif",
            "#if defined(__CPROVER__)",
            "#define assume(condition) __CPROVER_assume(condition)",
            "#elif defined(FENCEPOST_GENMC)",
            "#define assume(condition) __VERIFIER_assume(condition)",
            "#elif defined(FENCEPOST_VERIFIER)",
            "void __VERIFIER_assume(int);",
            "#define assume(condition) __VERIFIER_assume(condition)",
            "#else",
            "/* The run ends and is discarded. */",
            "#define assume(condition) do { if (!(condition)) exit(0); } while (0)",
            "#endif",
        ]);
    }
    if uses.locked {
        all(&[
            "",
            "#if defined(__CPROVER__)",
            "#define atomic_begin() __CPROVER_atomic_begin()",
            "#define atomic_end() __CPROVER_atomic_end()",
            "#else",
            "static pthread_mutex_t memory = PTHREAD_MUTEX_INITIALIZER;",
            "#define atomic_begin() pthread_mutex_lock(&memory)",
            "#define atomic_end() pthread_mutex_unlock(&memory)",
            "#endif",
            "#define ATOMIC(...) do { atomic_begin(); __VA_ARGS__; atomic_end(); } while (0)",
        ]);
    }
    if uses.choose {
        all(&[
            "",
            "#if defined(__CPROVER__)",
            "int nondet_int(void);",
            "#define begin_run() ((void)0)",
            "#define choose(cell, lo, hi) choose_any(lo, hi)",
            "static int choose_any(int lo, int hi) {",
            "  int value = nondet_int();",
            "  assume(lo <= value && value <= hi);",
            "  return value;",
            "}",
            "#elif defined(FENCEPOST_GENMC) || defined(FENCEPOST_VERIFIER)",
            "#define begin_run() ((void)0)",
        ]);
        choices.write(out);
        let mut all = |lines: &[&str]| lines.iter().for_each(|line| out.line(line));
        all(&[
            "#else",
            "#define begin_run() srand((unsigned)time(NULL))",
            "#define choose(cell, lo, hi) ((lo) + rand() % ((hi) - (lo) + 1))",
            "#endif",
        ]);
    }
    let mut all = |lines: &[&str]| lines.iter().for_each(|line| out.line(line));
    all(&["", "#define in_range(value, lo, hi) ((lo) <= (value) && (value) <= (hi))"]);
    updates(uses, &mut all);
    all(&[""]);
}

/// Writes the updates that the program uses, as functions.
pub(in crate::export) fn updates(uses: PreludeParts, all: &mut impl FnMut(&[&str])) {
    if !uses.locked {
        if uses.cas {
            all(&[
                "static int cas(_Atomic int *at, int expected, int new_value) {",
                "  return atomic_compare_exchange_strong(at, &expected, new_value);",
                "}",
            ]);
        }
        if uses.cmpxchg {
            all(&[
                "static int cmpxchg(_Atomic int *at, int expected, int new_value) {",
                "  atomic_compare_exchange_strong(at, &expected, new_value);",
                "  return expected;",
                "}",
            ]);
        }
        return;
    }
    if uses.cas {
        all(&[
            "static int cas(int *at, int expected, int new_value) {",
            "  if (*at != expected) return 0;",
            "  *at = new_value;",
            "  return 1;",
            "}",
        ]);
    }
    if uses.cmpxchg {
        all(&[
            "static int cmpxchg(int *at, int expected, int new_value) {",
            "  int old = *at;",
            "  if (old == expected) *at = new_value;",
            "  return old;",
            "}",
        ]);
    }
    for (is_used, name, assignment) in [
        (uses.swap, "swap", "*at = by"),
        (uses.add, "fetch_add", "*at += by"),
        (uses.and, "fetch_and", "*at &= by"),
        (uses.or, "fetch_or", "*at |= by"),
        (uses.xor, "fetch_xor", "*at ^= by"),
    ] {
        if is_used {
            let line = format!(
                "static int {name}(int *at, int by) {{ int old = *at; {assignment}; return old; }}"
            );
            all(&[&line]);
        }
    }
}
