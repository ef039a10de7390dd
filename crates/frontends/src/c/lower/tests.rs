//! Tests of lowering, from the source text to the program. The verdicts of whole programs are tests
//! of the corpus.

use fencepost_ir::{CasResult, Diagnostics, FenceKinds, Op, Problem, Stmt, Update};

use crate::Request;
use crate::c::frontend::compile;

fn lowered(body: &str) -> Problem {
    let mut diagnostics = Diagnostics::new();
    let source = format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
         #include <string.h>\nextern int __VERIFIER_nondet_int(void);\n{body}"
    );
    let problem = compile(&source, &Request::default(), &mut diagnostics);
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    problem.unwrap_or_else(|| panic!("errors: {messages:?}"))
}

fn errors(body: &str) -> Vec<&'static str> {
    let mut diagnostics = Diagnostics::new();
    let source = format!("#include <stdatomic.h>\n#include <stdlib.h>\n{body}");
    assert!(compile(&source, &Request::default(), &mut diagnostics).is_none());
    diagnostics.iter().map(|d| d.code).collect()
}

fn names(problem: &Problem) -> Vec<&str> {
    problem.program.threads.iter().map(|thread| thread.name.as_str()).collect()
}

fn locations(problem: &Problem) -> Vec<&str> {
    problem.program.locations.iter().map(|location| location.name.as_str()).collect()
}

fn code(problem: &Problem, thread: usize) -> &[Stmt] {
    &problem.program.threads[thread].code
}

fn count(problem: &Problem, is: impl Fn(&Op) -> bool) -> usize {
    let all = problem.program.threads.iter().flat_map(|thread| &thread.code);
    all.filter(|stmt| is(&stmt.op)).count()
}

#[test]
fn a_loop_that_creates_threads_is_unrolled() {
    let problem = lowered(
        "int x[3];
         void *f(void *arg) { x[(long)arg] = 1; return 0; }
         int main() {
             pthread_t t[3];
             for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, f, (void *)i);
             for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
         }",
    );
    assert_eq!(names(&problem), ["main", "f", "f(1)", "f(2)"]);
    // The arguments and the numbers of threads are constants, so they need no locations.
    let expected = [
        "x[0]",
        "x[1]",
        "x[2]",
        "%started f",
        "%started f(1)",
        "%started f(2)",
        "%done f",
        "%done f(1)",
        "%done f(2)",
    ];
    assert_eq!(locations(&problem), expected);
}

#[test]
fn memory_orders_are_fences() {
    let problem = lowered(
        "atomic_int x;
         int main() {
             pthread_t t;
             void *f(void *);
             pthread_create(&t, 0, f, 0);
         }
         void *f(void *arg) {
             atomic_store(&x, 1);
             atomic_store_explicit(&x, 2, memory_order_relaxed);
             return (void *)(long)atomic_load_explicit(&x, memory_order_acquire);
         }",
    );
    let fences: Vec<FenceKinds> = code(&problem, 1)
        .iter()
        .filter_map(|stmt| match stmt.op {
            Op::Fence(kinds) => Some(kinds),
            _ => None,
        })
        .collect();
    assert_eq!(fences, [FenceKinds::RELEASE, FenceKinds::STORE_LOAD, FenceKinds::ACQUIRE]);
}

#[test]
fn wrapper_functions_pass_memory_orders() {
    let problem = lowered(
        "atomic_int x;
         static int get(atomic_int *p, memory_order order) {
             return atomic_load_explicit(p, order);
         }
         void *f(void *arg) { assert(get(&x, memory_order_acquire) == 0); return 0; }
         int main() { pthread_t t; pthread_create(&t, 0, f, 0); }",
    );
    assert_eq!(count(&problem, |op| matches!(op, Op::Fence(_))), 1);
    let codes = errors(
        "atomic_int x; int order;
         int main() { return atomic_load_explicit(&x, order); }",
    );
    assert_eq!(codes, ["C0101"]);
}

#[test]
fn a_compare_exchange_is_one_update() {
    let with = |rest: &str| {
        lowered(&format!(
            "atomic_int x; int seen;
             void *f(void *arg) {{
                 int expected = 0;
                 int ok = atomic_compare_exchange_strong(&x, &expected, 1);
                 {rest}
                 return 0;
             }}
             int main() {{ pthread_t t; pthread_create(&t, 0, f, 0); }}"
        ))
    };
    for (rest, yields) in [
        ("seen = ok;", CasResult::Success),
        ("seen = expected;", CasResult::Old),
        ("seen = ok ? 7 : expected;", CasResult::Old),
    ] {
        let problem = with(rest);
        assert_eq!(count(&problem, |op| matches!(op, Op::Update { .. })), 1, "{rest}");
        let yields = |op: &Op| match op {
            Op::Update { update: Update::Cas { result, .. }, .. } => *result == yields,
            _ => false,
        };
        assert_eq!(count(&problem, yields), 1, "{rest}");
    }
}

#[test]
fn a_local_variable_that_another_thread_uses_is_in_memory() {
    let problem = lowered(
        "void *f(void *arg) { ++*(int *)arg; return 0; }
         int main() {
             int shared = 1, own = 2, *p = &own;
             pthread_t t;
             pthread_create(&t, 0, f, &shared);
             *p = 3;
             pthread_join(t, 0);
             assert(shared == 2 && own == 3);
         }",
    );
    assert_eq!(locations(&problem), ["shared", "%started f", "%done f"]);
}

#[test]
fn recursion_and_loops_of_allocations_are_bounded() {
    let problem = lowered(
        "int x;
         int f(int n) { return n == 0 ? 0 : 1 + f(n - 1); }
         int main() {
             x = f(x);
             while (x) { int *p = malloc(sizeof(int)); *p = x; x = *p - 1; }
         }",
    );
    let bounds: Vec<&str> = problem.program.bounds.iter().map(|b| b.text.as_str()).collect();
    let mut sorted = bounds.clone();
    sorted.sort_unstable();
    let expected =
        ["more than 4 objects of type `int` are allocated", "recursion of `f` deeper than 8 calls"];
    assert_eq!(sorted, expected);
}

#[test]
fn a_nondeterministic_value_has_its_assumed_range() {
    let problem = lowered(
        "int main() {
             int x = __VERIFIER_nondet_int();
             __VERIFIER_assume(x >= -2 && x < 3);
             assert(x * x <= 4);
         }",
    );
    assert!(problem.program.bounds.is_empty());
    assert_eq!(count(&problem, |op| matches!(op, Op::Choose { lo: -2, hi: 2, .. })), 1);
}

#[test]
fn parts_of_a_union_share_a_location() {
    let problem = lowered(
        "union { struct { unsigned short low, high; }; unsigned word; } u;
         int main() { u.word = 0x20001; assert(u.high == 2 && u.low == 1); }",
    );
    assert_eq!(locations(&problem), ["u.word"]);
}

#[test]
fn updates_of_atomic_variables_wrap() {
    let problem = lowered(
        "_Atomic unsigned char x;
         int main() { x += 300; }",
    );
    let wraps = |op: &Op| {
        let Op::Update { update: Update::Add { wrap, .. }, .. } = op else { return false };
        *wrap == Some((0, 255))
    };
    assert_eq!(count(&problem, wraps), 1);
}

#[test]
fn a_thread_that_may_not_be_created_is_cancelled() {
    let create = |condition: &str| {
        lowered(&format!(
            "int x;
             void *f(void *arg) {{ x = 1; return 0; }}
             int main() {{ pthread_t t; {condition} pthread_create(&t, 0, f, 0); }}"
        ))
    };
    let halts = |problem: &Problem| count(problem, |op| matches!(op, Op::Halt));
    assert_eq!(halts(&create("")), 2);
    assert_eq!(halts(&create("if (x)")), 3);
}

#[test]
fn calls_through_pointers_compare_addresses() {
    let problem = lowered(
        "int x;
         int one(void) { return 1; }
         int two(void) { return 2; }
         int main() {
             int (*f)(void) = x ? one : two;
             assert(f() == 2);
         }",
    );
    assert!(count(&problem, |op| matches!(op, Op::Branch { .. })) >= 2);
}

#[test]
fn code_with_goto_switch_and_nested_loops_is_lowered() {
    lowered(
        "int x;
         int f(int n) {
             switch (n) { case 0: return 1; case 1 ... 3: n++; default: break; }
         again:
             do { if (n-- > 0) continue; if (n < -3) goto out; } while (x);
             if (x) goto again;
         out:
             return n;
         }
         int main() { x = f(x) + f(2); for (;;) { if (x) break; } return x ? 1 : 0; }",
    );
}

#[test]
fn large_programs_are_errors() {
    let mut body = String::from("int x; int f0(int n) { return n + x; }\n");
    for at in 1..40 {
        let last = at - 1;
        body += &format!("int f{at}(int n) {{ return f{last}(n) + f{last}(n + x); }}\n");
    }
    body += "int main() { return f39(1); }";
    assert_eq!(errors(&body), ["C0100"]);
}

#[test]
fn accesses_that_are_not_supported_are_errors() {
    assert_eq!(errors("int n; int main() { void *p = malloc(n); }"), ["C0104"]);
    let partly =
        "struct { int a; } __attribute__((packed)) x; int main() { *((char *)&x + 1) = 1; }";
    assert_eq!(errors(partly), ["C0103"]);
}

#[test]
fn lifetimes_need_state_only_for_variables_that_other_threads_may_access() {
    let source = |run: &str| {
        format!(
            "int x; int *kept;
             int f(int *p) {{ int local = *p; kept = &local; return *kept; }}
             void *run(void *arg) {{ {run} return 0; }}
             int main() {{
                 pthread_t t; int a = 1;
                 pthread_create(&t, 0, run, 0);
                 x = f(&a);
                 pthread_join(t, 0);
             }}"
        )
    };
    let is_new = |op: &Op| matches!(op, Op::New { .. });
    let own = lowered(&source("x = 2;"));
    assert!(own.program.pools.is_empty());
    assert_eq!(count(&own, is_new), 0);
    let shared = lowered(&source("if (kept) x = *kept;"));
    assert_eq!(shared.program.pools.len(), 1);
    assert_eq!(count(&shared, is_new), 1);
    assert_eq!(count(&shared, |op| matches!(op, Op::Free { .. })), 1);
}

#[test]
fn nothing_is_pending_after_a_join() {
    let problem = lowered(
        "void *run(void *arg) { *(int *)arg = 1; return 0; }
         int f(void) {
             int local;
             pthread_t t;
             pthread_create(&t, 0, run, &local);
             pthread_join(t, 0);
             return local;
         }
         int main() { assert(f() == 1); }",
    );
    // The lifetime ends without a choice.
    assert_eq!(count(&problem, |op| matches!(op, Op::Free { .. })), 1);
    assert_eq!(count(&problem, |op| matches!(op, Op::Choose { .. })), 0);
}

#[test]
fn variables_with_a_value_on_all_paths_need_no_checks() {
    let checks = |body: &str| {
        let problem = lowered(&format!("int main() {{ {body} }}"));
        let is_fault = |stmt: &&Stmt| {
            let fault = problem.program.faults.get(&stmt.label);
            fault == Some(&fencepost_ir::Fault::Uninitialised)
        };
        code(&problem, 0).iter().filter(is_fault).count()
    };
    let choice = "__VERIFIER_nondet_int()";
    assert_eq!(checks(&format!("int a; if ({choice}) a = 1; else a = 2; assert(a);")), 0);
    assert_eq!(checks(&format!("int a; if ({choice}) a = 1; assert(a);")), 1);
    // After the first check, the variable has a value.
    assert_eq!(checks(&format!("int a; if ({choice}) a = 1; assert(a); assert(a + 1);")), 1);
    assert_eq!(checks(&format!("int a, b = {choice}; if (b) a = 1; if (b && a) assert(b);")), 1);
    assert_eq!(checks(&format!("int a; while ({choice}) a = 1; assert(a);")), 1);
    assert_eq!(checks(&format!("int a; do a = 1; while ({choice}); assert(a);")), 0);
    assert_eq!(checks("struct { int a, b; } s, t; s.a = 1; t = s; assert(t.a);"), 0);
    assert_eq!(checks(&format!("int a; if ({choice}) goto out; a = 1; out: assert(a);")), 1);
}

#[test]
fn objects_that_are_never_freed_have_addresses_of_their_own() {
    let program = |last: &str| {
        lowered(&format!(
            "struct node {{ int value; }} *_Atomic top;
             void *f(void *arg) {{
                 struct node *n = malloc(sizeof *n);
                 n->value = 1;
                 struct node *old = atomic_exchange(&top, n);
                 {last}
                 return 0;
             }}
             int main() {{
                 pthread_t a, b;
                 pthread_create(&a, 0, f, 0);
                 pthread_create(&b, 0, f, 0);
             }}"
        ))
    };
    let unfreed = program("assert(old != n);");
    assert_eq!(count(&unfreed, |op| matches!(op, Op::New { .. })), 0);
    assert!(unfreed.program.pools.is_empty());
    let freed = program("free(old);");
    assert_eq!(count(&freed, |op| matches!(op, Op::New { .. })), 2);
    assert_eq!(freed.program.pools.len(), 1);
}

#[test]
fn allocations_of_a_thread_in_loops_share_a_pool() {
    let problem = lowered(
        "int x;
         void *f(void *arg) { while (x) { int *p = malloc(sizeof(int)); *p = x; x = *p - 1; } }
         int main() { pthread_t t; pthread_create(&t, 0, f, 0); f(0); }",
    );
    let cells: Vec<u32> = problem.program.pools.iter().map(|pool| pool.cells).collect();
    assert_eq!(cells, [8, 8]);
}

#[test]
fn pointers_without_a_value_have_a_mark_unless_integers_become_pointers() {
    let marked = |body: &str| {
        let declarations = "struct node { struct node *next; long number; } *top;";
        lowered(&format!("{declarations} int main() {{ {body} }}")).program.uninitialised.len()
    };
    let allocate = "struct node *n = malloc(sizeof *n); top = n;";
    assert_eq!(marked(&format!("{allocate} n->number = 0; assert(n->next);")), 1);
    let small = "n->next = (void *)-1; n->next = (void *)(long)(int)n->number;";
    assert_eq!(marked(&format!("{allocate} {small}")), 1);
    let back = "n->next = (void *)(long)n->next;";
    assert_eq!(marked(&format!("{allocate} {back}")), 1);
    let forged = "n->next = (void *)n->number;";
    assert_eq!(marked(&format!("{allocate} {forged}")), 0);
    let punned = "*(long *)&n->next = 1;";
    assert_eq!(marked(&format!("{allocate} {punned}")), 0);
    let joined = "union { struct node *p; long l; } u; u.l = 1; n->next = u.p;";
    assert_eq!(marked(&format!("{allocate} {joined}")), 0);
}

#[test]
fn the_type_of_an_object_may_come_from_a_later_conversion() {
    lowered("int main() { void *p = malloc(3); }");
    let problem = lowered("int *q; int main() { void *p = malloc(4); q = p; *q = 1; }");
    assert_eq!(locations(&problem), ["q", "int#1"]);
    assert_eq!(errors("int main() { void *p = malloc(6); *(int *)p = 1; }"), ["C0104"]);
    let unknown = "void *q; int main() { q = malloc(6); *(int *)q = 1; }";
    assert_eq!(errors(unknown), ["C0104"]);
}
