//! The abstraction over-approximates the exact model: every state reachable in the exact model is
//! covered by a reachable abstract state, for every domain and k. The exact model is correct:
//! litmus tests have the expected outcomes.

use std::collections::BTreeSet;

use fencepost_ir::{Observable, Value};

use super::{EXACT, abstractions, closure, problem};
use crate::buffer::Rules;
use crate::covering::covers;
use crate::format::{CertState, Domain, Model};
use crate::property::is_final;

/// Returns the outcomes: the observed values in final states.
fn outcomes(source: &str, rules: Rules) -> BTreeSet<Vec<Value>> {
    let problem = problem(source);
    let (states, _) = closure(&problem, rules);
    let value = |state: &CertState, what: &Observable| match what {
        Observable::Loc(loc) => state.memory[loc.index()],
        Observable::Reg(thread, reg) => state.threads[thread.index()].registers[reg.index()],
        Observable::At(..) => unreachable!("only invariants mention control points"),
    };
    let finals = states.iter().filter(|state| is_final(&problem, state));
    finals.map(|state| problem.observed.iter().map(|what| value(state, what)).collect()).collect()
}

/// Returns the number of outcomes under the exact models SC, TSO and PSO.
fn exact_outcome_counts(source: &str) -> [usize; 3] {
    [Model::Sc, Model::Tso, Model::Pso]
        .map(|model| outcomes(source, Rules { model, ..EXACT }).len())
}

/// Returns the store-buffering test with `between` between the store and the load.
fn store_buffering(between: &str) -> String {
    format!(
        "shared int x, y, z;
         thread p {{ x = 1; {between} r = y; }}
         thread q {{ y = 1; {between} r = x; }}
         observe p.r, q.r;"
    )
}

/// Returns the message-passing test with `between` between the stores.
fn message_passing(between: &str) -> String {
    format!(
        "shared int x, y, z;
         thread p {{ x = 1; {between} y = 1; }}
         thread q {{ a = y; b = x; }}
         observe q.a, q.b;"
    )
}

#[test]
fn litmus_tests_have_the_outcomes_of_their_models() {
    assert_eq!(exact_outcome_counts(&store_buffering("")), [3, 4, 4]);
    assert_eq!(exact_outcome_counts(&store_buffering("fence;")), [3, 3, 3]);
    assert_eq!(exact_outcome_counts(&store_buffering("fence store_load;")), [3, 3, 3]);
    assert_eq!(exact_outcome_counts(&store_buffering("fence store_store;")), [3, 4, 4]);
    assert_eq!(exact_outcome_counts(&store_buffering("drain(x); drain(y);")), [3, 3, 3]);
    assert_eq!(
        exact_outcome_counts(&store_buffering("_s = swap(z, 1);")),
        [3, 3, 4],
        "a swap drains only one queue under PSO"
    );
    assert_eq!(exact_outcome_counts(&store_buffering("atomic { z = 1; }")), [3, 3, 3]);
    assert_eq!(exact_outcome_counts(&message_passing("")), [3, 3, 4]);
    assert_eq!(exact_outcome_counts(&message_passing("fence store_store;")), [3, 3, 3]);
    assert_eq!(exact_outcome_counts(&message_passing("fence store_load;")), [3, 3, 4]);
    assert_eq!(exact_outcome_counts(&message_passing("drain(x);")), [3, 3, 3]);
    assert_eq!(exact_outcome_counts(&message_passing("fence;")), [3, 3, 3]);
}

/// Programs with finitely many states that use every kind of statement that affects buffers.
const FINITE_PROGRAMS: [&str; 9] = [
    "shared int x, y; thread p { x = 1; y = 1; x = 2; y = 2; r = x; }
     thread q { a = y; b = x; c = x; }",
    "shared int x, y; thread p { x = 1; x = 2; x = 1; fence store_store; y = 1; x = 3; r = x; }
     thread q { a = y; b = x; }",
    "shared int x, y; thread p { x = 1; y = 1; fence store_load; x = 2; x = 1; r = y; x = 3; }
     thread q { y = 5; a = x; b = x; }",
    "shared int x, y; thread p { x = 1; fence store_load; x = 2; fence store_store; x = 1; y = 1; }
     thread q { y = 5; fence; a = x; b = x; }",
    "shared int x, y; thread p { x = 1; fence store_store; y = 1; r = cas(y, 0, 2); x = 2; s = cas(x, 2, 7); }
     thread q { a = y; b = x; drain(y); y = 3; }",
    "shared int x, y; thread p { x = 1; y = 1; x = 2; drain(y); y = 2; fence; x = 3; }
     thread q { x = 4; atomic { a = x; y = a; assume(a != 1); b = choose(0, 3); x = b; } }",
    "shared int a, b, c, d, e;
     thread p { a = 1; fence store_store; b = 1; fence store_store; c = 1; fence store_store; d = 1;
                fence store_store; e = 1; fence store_store; a = 2; r = cas(b, 1, 2); }
     thread q { u = e; v = d; w = a; }",
    "record N { int v; } pool N[2]; shared N top; shared int z;
     thread p { n = new N; n.v = 1; n.v = 2; fence store_store; top = n; z = 1; m = new N; m.v = 3; free(m); }
     thread q { t = top; if (t != null) { v = t.v; } }",
    "shared int x; init { x = choose(0..3); } thread p { r = x; x = r + 1; x = r; s = x; }
     thread q { x = 9; x = 8; x = 9; k = choose(0..2); x = k; }",
];

/// Asserts that each state of the finer abstraction is covered by a state of the coarser one.
fn assert_coarser(source: &str, coarse: Rules, fine: Rules) {
    let problem = problem(source);
    let (above, above_is_sound) = closure(&problem, coarse);
    let (below, below_is_sound) = closure(&problem, fine);
    assert!(below_is_sound || !above_is_sound, "{coarse:?} misses a failure: {source}");
    let mut by_memory = std::collections::HashMap::new();
    for state in &above {
        by_memory.entry(memory_and_control(state)).or_insert_with(Vec::new).push(state);
    }
    for state in &below {
        let candidates = by_memory.get(&memory_and_control(state));
        let covered = candidates.into_iter().flatten().any(|b| covers(coarse, b, state));
        assert!(covered, "{coarse:?} misses, under {fine:?}, {}\n{source}", state.to_line());
    }
}

/// Returns the parts of a state that no abstraction changes. The tests do not rely on
/// `covering::cover_key`.
fn memory_and_control(state: &CertState) -> (Vec<Value>, Vec<(u32, Vec<Value>)>) {
    let control = state.threads.iter().map(|t| (t.pc.0, t.registers.clone())).collect();
    (state.memory.clone(), control)
}

#[test]
fn every_exact_state_is_covered() {
    for source in FINITE_PROGRAMS {
        for model in [Model::Tso, Model::Pso] {
            for coarse in abstractions(model) {
                assert_coarser(source, coarse, Rules { model, ..EXACT });
            }
        }
    }
}

#[test]
fn smaller_heads_cover_larger_heads_with_unbounded_buffers() {
    let source = "shared int x, y, z;
        thread p { loop { x = 1; y = 1; fence store_store; x = 2; } }
        thread q { a = x; z = a; fence store_load; z = 2; }";
    for model in [Model::Tso, Model::Pso] {
        for domain in [Domain::Fd, Domain::Pd] {
            for k in [0, 1] {
                let fine = super::rules(model, domain, k + 1);
                assert_coarser(source, Rules { k, ..fine }, fine);
            }
        }
        let pd = super::rules(model, Domain::Pd, 0);
        assert_coarser(source, pd, Rules { domain: Domain::Fd, ..pd });
    }
}
