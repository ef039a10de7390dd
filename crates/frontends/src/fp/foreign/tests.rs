//! Programs with one mistake, each in the notation of another language: one error with a hint.

use std::collections::BTreeSet;

use fencepost_ir::{Diagnostics, Severity};

use super::*;
use crate::fp::lower;

const TABLES: [&[Entry]; 6] = [TYPES, STATEMENTS, CALLS, VALUES, ITEMS, OPERATORS];

/// The length of a hint that fits on a line of 80 columns.
const HINT_LENGTH: usize = 70;

#[test]
fn words_have_one_hint_in_each_position() {
    for table in TABLES {
        let mut seen = BTreeSet::new();
        for word in table.iter().flat_map(|(words, _)| *words) {
            assert!(seen.insert(word), "{word}");
        }
    }
    for (_, hint) in TABLES.iter().copied().flatten() {
        assert!(hint.len() <= HINT_LENGTH, "{hint}");
    }
}

#[test]
fn a_notation_of_another_language_gives_one_error_with_a_hint() {
    let records = "record N { int v; N next; } pool N[2]; shared N h;";
    let mut wrong = Vec::new();
    for (source, expected) in CASES {
        let source = format!("shared int x, y, z; shared bool b; {records}\n{source}\n");
        let mut diagnostics = Diagnostics::new();
        lower(&source, &mut diagnostics);
        let errors: Vec<_> = diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
        let shown: Vec<_> = errors.iter().map(|d| (&d.message, &d.hint)).collect();
        let [error] = errors[..] else {
            wrong.push(format!("{source}: {shown:?}"));
            continue;
        };
        let hint = error.hint.as_deref().unwrap_or("");
        if !hint.contains(expected) || hint.len() > HINT_LENGTH {
            wrong.push(format!("{source}: {shown:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Hints concern unknown words only. A program may use all of them as names.
#[test]
fn words_of_other_languages_are_names() {
    let source = "shared bool lock; shared int NULL, then; proc void smp_mb() { fence; } \
        thread p { let = 1; mutex = let; sync = mutex; smp_mb(); NULL = sync; lock = true; \
        wait: then = 1; }";
    let mut diagnostics = Diagnostics::new();
    assert!(lower(source, &mut diagnostics).is_some());
    assert_eq!(diagnostics.iter().count(), 0);
    let broken = "proc void lock(int i) { x = i; } shared int x; thread p { lock(1 +); }";
    lower(broken, &mut diagnostics);
    let hints: Vec<_> = diagnostics.iter().map(|d| d.hint.clone()).collect();
    assert_eq!(hints, [None]);
}

#[test]
fn a_declaration_in_a_block_is_known_outside() {
    let source =
        "thread p { x = 1; shared int x; const N = 2; x = N; } thread q { r = x + N + y; }";
    let mut diagnostics = Diagnostics::new();
    lower(source, &mut diagnostics);
    let found: Vec<_> = diagnostics.sorted().iter().map(|d| d.message.clone()).collect();
    assert_eq!(
        found,
        [
            "`shared` cannot be inside a block",
            "`const` cannot be inside a block",
            "there is no location, constant or register `y`"
        ]
    );
    let open = "shared int x; thread p { x = 1;\nshared int y; thread q { y = x; }";
    let mut diagnostics = Diagnostics::new();
    lower(open, &mut diagnostics);
    let found: Vec<_> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(found, ["expected `}`, found `shared`"]);
}

const CASES: &[(&str, &str)] = &[
    ("thread p { if (x = 1) y = 1; }", "write `==`"),
    ("thread p { while (x = 1) { y = 1; } }", "write `==`"),
    ("thread p { x = 1; } final exists (x = 1);", "write `==`"),
    ("thread p { x = 1; } invariant x = 1;", "write `==`"),
    ("thread p { x = y = 1; }", "one assignment in each statement"),
    ("thread p { x, y = 1, 2; }", "one assignment in each statement"),
    ("thread p { if (!h) x = 1; }", "write `h == null` for `!h`"),
    ("thread p { n = h; if (!n) x = 1; }", "write `n == null` for `!n`"),
    ("thread p { if (!x) y = 1; }", "write `x == 0` for `!x`"),
    ("thread p { if (h) x = 1; }", "write `h != null`"),
    ("thread p { unsigned int r = 1; x = r; }", "write `int`"),
    ("shared unsigned int u; thread p { x = 1; }", "write `int`"),
    ("shared uint32_t u; thread p { x = 1; }", "write `int`"),
    ("shared boolean u; thread p { x = 1; }", "write `bool`"),
    ("shared _Atomic int u; thread p { x = 1; }", "write `shared int x;`"),
    ("_Atomic int u; thread p { x = 1; }", "write `shared int x;`"),
    ("atomic int u; thread p { x = 1; }", "write `shared int x;`"),
    ("volatile int u; thread p { x = 1; }", "write `shared int x;`"),
    ("shared atomic_int u; thread p { x = 1; }", "write `shared int x;`"),
    ("shared std::atomic<int> u; thread p { x = 1; }", "write `shared int x;`"),
    ("std::atomic<int> u; thread p { x = 1; }", "write `shared int x;`"),
    ("int u = 0; thread p { x = 1; }", "write `shared` before the type"),
    ("shared u; thread p { x = 1; }", "write the type"),
    ("shared int[2] u; thread p { x = 1; }", "write the length after the name"),
    ("shared int u[]; thread p { x = 1; }", "write the length"),
    ("thread p { let r = x; y = r; }", "registers need no declaration"),
    ("thread p { let mut r = x; y = r; }", "registers need no declaration"),
    ("thread p { var r = x; y = r; }", "registers need no declaration"),
    ("fn main() { x = 1; } thread p { y = 1; }", "write `proc void f() { ... }`"),
    ("def f() { x = 1; } thread p { y = 1; }", "write `proc void f() { ... }`"),
    ("proc f() { x = 1; } thread p { y = 1; }", "write the type of the result"),
    ("int main() { x = 1; } thread p { y = 1; }", "write `thread p { ... }`"),
    ("int f() { return 1; } thread p { y = 1; }", "write `proc` before the return type"),
    ("process q { x = 1; } thread p { y = 1; }", "write `thread p { ... }`"),
    ("active proctype q() { x = 1; } thread p { y = 1; }", "write `thread p { ... }`"),
    ("thread p() { x = 1; }", "write `thread p { ... }`"),
    ("thread p(int i) { x = 1; }", "write `thread p { ... }`"),
    ("thread p[2] { x = 1; }", "write `thread p { ... }`"),
    ("thread { x = 1; }", "write `thread p { ... }`"),
    ("struct S { int v; }; thread p { x = 1; }", "write `record N { ... }`"),
    ("typedef int T; thread p { x = 1; }", "write `record N { ... }`"),
    ("record S { int v; }; pool S[1]; thread p { x = 1; }", "remove the `;`"),
    ("thread p { n = h; r = n->next; x = r.v; }", "write `.` to access a field"),
    ("thread p { n = h; n->v = 1; }", "write `.` to access a field"),
    ("thread p { *x = 1; }", "write `x` for `*x`"),
    ("thread p { r = *x; y = r; }", "write `x` for `*x`"),
    ("shared int *q; thread p { x = 1; }", "there are no pointers"),
    ("thread p { int *q = x; y = 1; }", "there are no pointers"),
    ("thread p { r = &x; y = r; }", "write `x` for `&x`"),
    ("thread p { ++x; }", "write `x++`"),
    ("thread p { --x; }", "write `x--`"),
    ("thread p { r = x++; y = r; }", "write `r = x; x++;`"),
    ("thread p { r = ++x; y = r; }", "write `r = x; x++;`"),
    ("thread p { for (i = 0; i < 2; ++i) x = i; }", "write `x++`"),
    ("thread p { if (h == NULL) x = 1; }", "write `null`"),
    ("thread p { if (h == nullptr) x = 1; }", "write `null`"),
    ("thread p { n = h; if (n == nil) x = 1; }", "write `null`"),
    ("thread p { b = True; }", "write `true`"),
    ("thread p { b = TRUE; }", "write `true`"),
    ("thread p { if (b == False) x = 1; }", "write `false`"),
    ("shared bool u = True; thread p { x = 1; }", "write `true`"),
    ("thread p { atomic_store(&x, 1); }", "write `x = v;`"),
    ("thread p { atomic_store(x, 1); }", "write `x = v;`"),
    ("thread p { atomic_store_explicit(&x, 1, memory_order_release); }", "write `x = v;`"),
    ("thread p { r = atomic_load(&x); y = r; }", "write `r = x;`"),
    ("thread p { r = atomic_load(x); y = r; }", "write `r = x;`"),
    ("thread p { atomic_thread_fence(memory_order_seq_cst); }", "write `fence;`"),
    ("thread p { smp_mb(); }", "write `fence;`"),
    ("thread p { smp_wmb(); }", "write `fence store_store;`"),
    ("thread p { mfence; }", "write `fence;`"),
    ("thread p { mfence(); }", "write `fence;`"),
    ("thread p { lwsync; }", "write `fence load_load, load_store, store_store;`"),
    ("thread p { r = READ_ONCE(x); y = r; }", "write `r = x;`"),
    ("thread p { WRITE_ONCE(x, 1); }", "write `x = v;`"),
    ("thread p { r = compare_and_swap(x, 0, 1); b = r; }", "write `cas(x, old, new)`"),
    ("thread p { r = x.compare_exchange_strong(y, 1); }", "write `compare_exchange`"),
    ("thread p { r = x.fetch_sub_all(1); }", "write `load`, `store`"),
    ("thread p { r = atomic_exchange(&x, 1); y = r; }", "write `swap(x, v)`"),
    ("thread p { printf(\"%d\\n\", x); }", "there are no strings"),
    ("thread p { printf(x); }", "there is no output"),
    ("thread p { n = malloc(4); h = n; }", "write `new N`"),
    ("thread p { n = malloc(sizeof(N)); h = n; }", "write `new N`"),
    ("thread p { n = new N(); h = n; }", "write `n = new N;`"),
    ("thread p { delete h; }", "write `free(n);`"),
    ("#include <stdio.h>\nthread p { x = 1; }", "remove this line"),
    ("#define K 3\nthread p { x = 1; }", "write `const N = 3;`"),
    ("# a comment\nthread p { x = 1; }", "write `// ...` for a comment"),
    ("thread p {\n  y = 1; # it's done { x\n}", "write `// ...` for a comment"),
    ("(* a comment *)\nthread p { x = 1; }", "write `// ...` for a comment"),
    ("thread p { y = 1; -- a comment\n}", "write `x--`, or `// ...`"),
    ("thread p { pthread_mutex_lock(&m); x = 1; }", "`atomic { assume(!m)"),
    ("thread p { pthread_mutex_lock(m); x = 1; }", "`atomic { assume(!m)"),
    ("thread p { mutex.lock(); x = 1; }", "`atomic { assume(!m)"),
    ("shared mutex m; thread p { x = 1; }", "`atomic { assume(!m)"),
    ("thread p { synchronized { x = 1; } }", "`atomic { assume(!m)"),
    ("thread p { x := 1; }", "write `=` to assign"),
    ("thread p { x <- 1; }", "write `=` to assign"),
    ("thread p { if (x == 1) { y = 1; } elif (x == 2) { y = 2; } }", "write `else if"),
    ("thread p { if x == 1 then y = 1; elif x == 2 then y = 2; }", "in parentheses"),
    ("thread p { if (x == 1) then y = 1; }", "without `then`"),
    ("thread p { if (x == 1) then { y = 1; } }", "without `then`"),
    ("thread p { while x == 1 { y = 1; } }", "in parentheses"),
    ("thread p { while (x == 1) do { y = 1; } }", "without `do`"),
    ("thread p { repeat { y = 1; } until (x == 1); }", "write `do { ... } while (c);`"),
    ("thread p { for i in 0..2 { x = i; } }", "write `for (i = 0; i < 2; i++)"),
    ("thread p { for (i in 0..2) { x = i; } }", "write `for (i = 0; i < 2; i++)"),
    ("thread p { if (x == 1 and y == 1) z = 1; }", "write `&&`"),
    ("thread p { if (x == 1 or y == 1) z = 1; }", "write `||`"),
    ("thread p { if (not (x == 1)) z = 1; }", "write `!`"),
    ("thread p { if (x <> 1) z = 1; }", "write `!=`"),
    ("thread p { if (x === 1) z = 1; }", "write `==`"),
    ("thread p { if (x == 1) && (y == 1) z = 1; }", "around the whole condition"),
    ("thread p { shared int u; u = 1; }", "move it out of the block"),
    ("thread p { x = 1; const N2 = 3; if (x == 1) { x = N2; } }", "move it out of the block"),
    ("thread p { thread q { x = 1; } y = 1; }", "move it out of the block"),
    ("thread p { assert x == 1; }", "write `assert(...)`"),
    ("thread p { x = 1; } assert(x == 1);", "write `final forall COND;`"),
    ("thread p { x = 1; } exists (x == 1)", "write `final forall COND;`"),
    ("thread p { x = 1; } always x == 1;", "write `invariant COND;`"),
    ("thread p { x = 1; } property x == 1;", "write `invariant COND;`"),
    ("thread p { r = x; } final exists (p:r == 1);", "write `p.r`"),
    ("thread p { r = x; } final exists x == 1 /\\ y == 1;", "write `&&`"),
    ("thread p { wait(x == 1); }", "write `await(COND);`"),
    ("thread p { wait until x == 1; }", "write `await(COND);`"),
    ("thread p { x = rand(); }", "write `choose(0..4)`"),
    ("thread p { x = *; }", "write `choose(0, 1)`"),
    ("thread p { x = 'a'; }", "there are no characters"),
    ("thread p { x = 1.5; }", "numbers are integers"),
    ("thread p { x = (int) y; }", "there are no casts"),
    ("thread p { pass; }", "write `skip;`"),
    ("thread p { atomic x = 1; }", "write `atomic { ... }`"),
];
