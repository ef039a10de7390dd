//! Random mutations of C tests: the front end does not panic, and returns either a test or an
//! error.

use fencepost_ir::Diagnostics;
use proptest::prelude::*;

use super::super::super::read;

const SEEDS: [&str; 4] = [
    "C SB\n{ int x = 0; atomic_int y = ATOMIC_INIT(1); }\n\
     P0(atomic_int* x, volatile int* y) { atomic_store_explicit(x, 1, memory_order_release); \
     int r0 = *y; if (r0 == 1) { smp_mb(); } else *y = r0 + 1; }\n\
     P1(atomic_int* x, int* y) { int r0 = xchg(x, 2); while (READ_ONCE(*y) < 1 && !r0) ; }\n\
     exists (0:r0=0 /\\ 1:r0=0)\n",
    "C P\n{ int a[2] = {1, 2}; int *p = &x; 0:r1=3; }\n\
     P0(int *a, int **p, int x) { int *q = rcu_dereference(*p); int r0 = *q ? a[r1 & 1] : -x; \
     a[0] = ~r0 | 4; }\nlocations [x;] forall (a[0]=1 \\/ 0:r0=2)\n",
    "C L\n{}\nstatic void P0(spinlock_t *l, int *c) { int r0, r1 = 1; spin_lock(l); r0 = *c; \
     *c = r0 + r1; spin_unlock(&l); do { r0 = cmpxchg(c, r0, 5); } while (r0 != 5); }\n\
     exists (c=1)\n",
    "C N\n{}\nP0(atomic_int *x) { int e = 1; /* c */ int r0 = \
     atomic_compare_exchange_strong_explicit(x, &e, 2, memory_order_acq_rel, memory_order_relaxed); \
     atomic_inc(x); r0 = atomic_dec_and_test(x) / (int)e % 2 << 1; (void)r0; } // d\nexists (0:e=0)\n",
];

const PIECES: [&str; 36] = [
    "*",
    "&",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "=",
    "==",
    "&&",
    "||",
    "?",
    ":",
    "-",
    "~",
    "!",
    "if (",
    "while (",
    "do ",
    "else ",
    "int ",
    "x",
    "r0",
    "0",
    "99999999999",
    "READ_ONCE(",
    "atomic_fetch_add(",
    "memory_order_acquire",
    "smp_mb();",
    "/*",
    "é",
    "\n",
    "a[r0]",
];

fn mutated() -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0usize..12, prop::sample::select(&PIECES[..]));
    (prop::sample::select(&SEEDS[..]), prop::collection::vec(edit, 0..6)).prop_map(
        |(seed, edits)| {
            let mut text: Vec<char> = seed.chars().collect();
            for (at, cut, piece) in edits {
                let at = at.index(text.len() + 1);
                let end = (at + cut).min(text.len());
                text.splice(at..end, piece.chars());
            }
            text.into_iter().collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_tests_do_not_panic(text in mutated(), places in any::<bool>()) {
        let mut diagnostics = Diagnostics::default();
        let test = read(&text, "t", places, &mut diagnostics);
        prop_assert_eq!(test.is_some(), !diagnostics.has_errors());
    }
}

#[test]
fn the_seeds_are_valid_tests() {
    for seed in SEEDS {
        let mut diagnostics = Diagnostics::default();
        assert!(read(seed, "t", true, &mut diagnostics).is_some(), "{diagnostics:?}");
    }
}
