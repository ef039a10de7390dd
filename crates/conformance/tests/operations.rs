//! Properties of operations: the explicit engine and the reference interpreter agree on small
//! libraries.
//!
//! - [`queries`]: single queries, and their limits.

mod queries;

use crate::common::{MODELS, REDUCTIONS, check, lower, model, settings};
use fencepost_conformance::reference::explore;
use fencepost_engines::{Settings, Verdict};
use fencepost_ir::Violation;
use fencepost_ir::{Consistency, Problem, Property};

const MAX_STATES: usize = 400_000;

fn problem(library: &str, client: &str, consistency: Consistency) -> Problem {
    let word = consistency.word();
    let source = format!("{library}\nproperty {word} operations;\nclient {client};");
    let problems = lower(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    problems.into_iter().next().expect("one client gives one problem")
}

/// Checks that the operations of a client are not sequentially consistent, and not linearizable,
/// under exactly these models.
#[track_caller]
fn compare(library: &str, client: &str, [sequential, linearizable]: [&str; 2]) {
    assert_eq!(
        violating_models(library, client, Consistency::Sequential),
        sequential,
        "{client} of {library}"
    );
    let violating = violating_models(library, client, Consistency::Linearizable);
    assert_eq!(violating, linearizable, "{client} of {library}, linearizable");
}

/// Returns the models under which the reference interpreter finds a violation. Checks that the
/// engine agrees with every set of reductions.
#[track_caller]
fn violating_models(library: &str, client: &str, consistency: Consistency) -> String {
    let problem = problem(library, client, consistency);
    let is_about_operations = |property: &Property| matches!(property, Property::Operations(_));
    let at = problem.properties.iter().position(is_about_operations);
    let at = at.expect("the problem has a property of operations");
    let mut found = Vec::new();
    for (name, reference) in MODELS {
        let report = explore(&problem, reference, 8, MAX_STATES);
        // Windows with guesses may be too large for the reference interpreter.
        let is_exact = report.complete && !report.bound_hit;
        assert!(is_exact || name == "rmo", "{name}: {client}");
        assert!(report.faults.is_empty() && !report.outcomes.is_empty(), "{name}: {client}");
        let mut violated = report.operation_violations.contains(&at);
        for reductions in REDUCTIONS {
            let settings = Settings { reductions, ..settings(1) };
            match check(&problem, &model(name), settings).verdict {
                Verdict::Violated(found) => {
                    let violation = found.evidence().violation();
                    assert_eq!(violation, Violation::Operations(at), "{name}: {client}");
                    assert!(
                        violated || !is_exact,
                        "{name}, {reductions:?}: {client} satisfies the property"
                    );
                    violated = true;
                }
                Verdict::Verified(_) => {
                    assert!(!violated, "{name}, {reductions:?}: {client} violates the property");
                }
                Verdict::Inconclusive(_) if !is_exact => {}
                Verdict::Inconclusive(_) => {
                    panic!("{name}, {reductions:?}: inconclusive on the small client {client}")
                }
            }
        }
        if violated {
            found.push(name);
        }
    }
    found.join(" ")
}

const ALL: &str = "sc ibm370 tso table-tso pso table-pso rmo-nospec rmo";
const NOT_SC: &str = "ibm370 tso table-tso pso table-pso rmo-nospec rmo";
const NOT_TSO: &str = "pso table-pso rmo-nospec rmo";

#[test]
fn a_counter_needs_an_atomic_increment() {
    let racy = "shared int x;
        operation int next() as n { int r = x; x = r + 1; return r; }";
    compare(racy, "nn", ["", ""]);
    compare(racy, "n|n", [ALL, ALL]);
    compare(racy, "n(n|nn)", [ALL, ALL]);
    let update = "shared int x;
        operation int next() as n { int r = fetch_add(x, 1); return r; }";
    compare(update, "n|n|n", ["", ""]);
    compare(update, "nn|nn", ["", ""]);
}

#[test]
fn registers_need_fences_if_a_writer_reads_another_register() {
    let registers = "shared int x, y;
        operation void put() as a { x = 1; }
        operation void set() as b { y = 1; }
        operation int get() as c { int r = y; return r; }
        operation int take() as d { int r = x; return r; }";
    compare(registers, "ab|d", ["", NOT_SC]);
    compare(registers, "ac|bd", [NOT_SC, NOT_SC]);
    // Two readers may observe different orders.
    compare(registers, "ab|cd", [NOT_TSO, NOT_SC]);
    assert_eq!(violating_models(registers, "a|b|cd|dc", Consistency::Sequential), "rmo-nospec rmo");
}

#[test]
fn a_one_element_buffer_needs_fences_and_one_client_of_each_kind() {
    let buffer = |fences: [&str; 2]| {
        let [put, get] = fences;
        format!(
            "shared int data; shared bool full;
             operation int put(int v) as p {{
               if (full) return 0;
               data = v; {put} full = true;
               return 1;
             }}
             operation int get() as g {{
               if (!full) return 9;
               {get} int r = data; {get} full = false;
               return r;
             }}"
        )
    };
    compare(&buffer(["", ""]), "p|g", [NOT_TSO, NOT_SC]);
    compare(&buffer(["", ""]), "p(p|gg)", [NOT_TSO, NOT_SC]);
    let fenced = buffer(["fence store_store;", "fence load_load, load_store;"]);
    compare(&fenced, "pp|gg", ["", NOT_SC]);
    // Two concurrent `get` operations interfere.
    compare(&fenced, "p(g|g)", [ALL, ALL]);
}

/// The results of operations before the threads and of the threads must come from one choice of
/// `init`.
#[test]
fn results_before_the_threads_fix_the_choices_of_init() {
    let library = "shared int x, y;
        init { x = choose(0..=1); y = x; }
        operation int get() as g { int r = x; return r; }
        operation void flip() as w { int r = x; y = 1 - r; y = r; }
        operation int read() as r { int r = y; return r; }";
    compare(library, "w|r", ["", ""]);
    compare(library, "g(w|r)", [ALL, ALL]);
    compare(library, "g(r|r)", ["", ""]);
}

#[test]
fn a_stack_needs_atomic_operations() {
    let stack = |begin: &str, end: &str| {
        format!(
            "shared int top, cell[2];
             operation int push(int v) as p {{
               int r = 0; {begin}
               int t = top; if (t < 2) {{ cell[t] = v; top = t + 1; r = 1; }}
               {end} return r;
             }}
             operation int pop() as q {{
               int r = 9; {begin}
               int t = top; if (t > 0) {{ r = cell[t - 1]; top = t - 1; }}
               {end} return r;
             }}"
        )
    };
    let right = stack("atomic {", "}");
    compare(&right, "pq|pq", ["", ""]);
    compare(&right, "pp(q|qp)", ["", ""]);
    compare(&right, "p|p|p|q", ["", ""]);
    let racy = stack("", "");
    compare(&racy, "pq", ["", ""]);
    compare(&racy, "p(q|q)", [ALL, ALL]);
    compare(&racy, "p|q", [NOT_TSO, NOT_SC]);
}

#[test]
fn an_operation_may_abort_or_repeat() {
    let taker = |marks: &str| {
        format!(
            "shared int x = 5;
             operation int take() as t{marks} {{
               int r = x; if (r == 0) return 0;
               x = 0; return r;
             }}
             operation int steal() as s, aborts -1 {{
               int r = x; if (r == 0) return 0;
               bool won = cas(x, r, 0); if (!won) return -1;
               return r;
             }}"
        )
    };
    compare(&taker(""), "t|t", [ALL, ALL]);
    compare(&taker(", repeats"), "t|t", ["", ""]);
    compare(&taker(""), "s|s", ["", ""]);
    compare(&taker(""), "s|ss", ["", ""]);
}

#[test]
fn an_order_in_which_an_operation_blocks_or_fails_explains_nothing() {
    // Run alone, `wait` terminates only after `go`.
    let handshake = "shared int x;
        operation int go() as g { int r = x; x = 1; return r; }
        operation int wait() as w { while (x == 0) skip; int r = x; return r; }
        operation int hope() as h { int r = x; assume(r == 1); return r; }
        operation int bold() as b { int r = x; assert(r <= 1); x = 1; return r; }";
    compare(handshake, "g|w", ["", ""]);
    compare(handshake, "g|h", ["", ""]);
    compare(handshake, "g|b", [ALL, ALL]);
}

#[test]
fn choices_of_init_and_operations_are_explored() {
    let library = "shared int x;
        init { x = choose(1..=2); }
        operation int get() as g { int r = x; return r; }
        operation int set() as s { int r = choose(3..=4); x = r; return r; }";
    compare(library, "g|g", ["", ""]);
    compare(library, "gs|g", ["", NOT_SC]);
    compare(library, "s|sg", ["", NOT_SC]);
}

#[test]
fn a_store_that_is_pending_at_the_return_breaks_linearizability() {
    let register = |fence: &str| {
        format!(
            "shared int x;
             operation void put(int v) as p {{ x = v; {fence} }}
             operation int get() as g {{ int r = x; return r; }}"
        )
    };
    compare(&register(""), "p|g", ["", NOT_SC]);
    compare(&register(""), "pp|gg", ["", NOT_SC]);
    compare(&register("fence;"), "p|g", ["", ""]);
    compare(&register("fence;"), "pp|gg", ["", ""]);
    compare(&register("fence;"), "pg|pg", ["", ""]);
}

#[test]
fn a_non_atomic_snapshot_is_not_linearizable() {
    // The snapshot may miss the first of two stores of different threads and observe the second.
    let snapshot = |begin: &str, end: &str| {
        format!(
            "shared int x, y;
             operation void first() as a {{ x = 1; fence; }}
             operation void second() as b {{ y = 1; fence; }}
             operation int both() as s {{ int r; int q; {begin} r = x; q = y; {end} return 2 * r + q; }}"
        )
    };
    compare(&snapshot("", ""), "s|a|b", ["", ALL]);
    compare(&snapshot("", ""), "s|ab", [ALL, ALL]);
    compare(&snapshot("atomic {", "}"), "s|a|b", ["", ""]);
}

#[test]
fn operations_after_the_threads_come_last() {
    let racy = "shared int x;
        operation int next() as n { int r = x; x = r + 1; return r; }";
    compare(racy, "(n)n", ["", ""]);
    // The second increment is lost. The operation after the threads returns 1 instead of 2.
    let quiet = "shared int x;
        operation void increment() as i { x = x + 1; }
        operation int get() as g { return x; }";
    compare(quiet, "i|i", ["", ""]);
    compare(quiet, "(i|i)g", [ALL, ALL]);
    compare(quiet, "i(ii)g", ["", ""]);
    // A store takes effect after its operation has returned, so the earlier one may be the last.
    let register = "shared int x;
        operation void one() as a { x = 1; }
        operation void two() as b { x = 2; }
        operation int get() as g { return x; }";
    compare(register, "(a|b)gg", ["", NOT_SC]);
    compare(register, "(ag|bg)gg", ["", NOT_SC]);
}
