//! The enumeration of traces, checked in three ways: litmus tests whose traces are counted by hand,
//! trace sets with and without eager steps, and outcomes compared with the reference interpreter.

use std::collections::BTreeSet;

use fencepost_ir::{Observable, Problem, Value};
use fencepost_testkit::programs::{Profile, bounded, program};
use fencepost_testkit::{problem, report_comparisons, seeds};

use fencepost_conformance::reference::{self, Model};
use fencepost_conformance::traces::explore::{traces, visit_states};
use fencepost_conformance::traces::step::{BufferModel, Machine};
use fencepost_conformance::traces::{
    MAX_STATES, pso_traces, sc_interleavings, sc_prefixes, sc_traces, tso_traces,
};

const MODELS: [(BufferModel, Model); 3] =
    [(BufferModel::Sc, Model::Sc), (BufferModel::Tso, Model::Tso), (BufferModel::Pso, Model::Pso)];

fn litmus(threads: &[&str]) -> Problem {
    let mut source = "shared int x, y, z;\n".to_string();
    for (at, body) in threads.iter().enumerate() {
        source += &format!("thread t{at} {{ {body} }}\n");
    }
    problem(&(source + "observe x;"))
}

/// Checks the numbers of complete and stuck traces under SC, TSO and PSO.
#[track_caller]
fn check_counts(threads: &[&str], expected: [(usize, usize); 3]) {
    let problem = litmus(threads);
    let sets = [sc_traces(&problem), tso_traces(&problem), pso_traces(&problem)];
    let sets = sets.map(|set| set.expect("the program is small and has no failing run"));
    let [sc, tso, pso] = &sets;
    assert!(sc.complete.is_subset(&tso.complete) && tso.complete.is_subset(&pso.complete));
    assert!(sc.stuck.is_subset(&tso.stuck) && tso.stuck.is_subset(&pso.stuck));
    assert_eq!(sets.map(|set| (set.complete.len(), set.stuck.len())), expected, "{threads:?}");
}

#[test]
fn store_buffering_has_one_non_sc_trace_without_fences() {
    check_counts(&["x = 1; r0 = y;", "y = 1; r0 = x;"], [(3, 0), (4, 0), (4, 0)]);
    for fence in ["fence;", "fence store_load;", "drain x; drain y;"] {
        let (p, q) = (format!("x = 1; {fence} r0 = y;"), format!("y = 1; {fence} r0 = x;"));
        check_counts(&[&p, &q], [(3, 0); 3]);
    }
    let (p, q) = ("x = 1; fence store_store; r0 = y;", "y = 1; fence; r0 = x;");
    check_counts(&[p, q], [(3, 0), (4, 0), (4, 0)]);
    // An update waits for the whole queue under TSO, and for the queue of its location under PSO.
    check_counts(
        &["x = 1; swap(z, 1); r0 = y;", "y = 1; fence; r0 = x;"],
        [(3, 0), (3, 0), (4, 0)],
    );
    check_counts(&["x = 1; atomic { r0 = y; }", "y = 1; atomic { r0 = x; }"], [(3, 0); 3]);
}

#[test]
fn message_passing_has_one_non_sc_trace_under_pso() {
    check_counts(&["x = 1; y = 1;", "r0 = y; r1 = x;"], [(3, 0), (3, 0), (4, 0)]);
    for fence in ["fence store_store;", "fence;", "drain x;"] {
        check_counts(&[&format!("x = 1; {fence} y = 1;"), "r0 = y; r1 = x;"], [(3, 0); 3]);
    }
    // The final memory does not depend on the last writer, but the coherence order distinguishes
    // traces.
    check_counts(&["x = 1; y = 1;", "x = 1; y = 1;"], [(4, 0); 3]);
    check_counts(&["x = 1; y = 1;", "y = 1; x = 1;"], [(3, 0), (3, 0), (4, 0)]);
}

#[test]
fn forwarding_and_failed_updates_add_no_traces_by_themselves() {
    // A forwarded load reads its own store early. The trace does not show when.
    check_counts(&["x = 1; r0 = x;", "r0 = x;"], [(2, 0); 3]);
    check_counts(&["x = 1; r0 = x; r1 = y;", "y = 1; r0 = y; r1 = x;"], [(3, 0), (4, 0), (4, 0)]);
    // One update fails and only reads.
    check_counts(&["cas(x, 0, 1);", "cas(x, 0, 2);"], [(2, 0); 3]);
    check_counts(&["fetch_add(x, 1);", "fetch_add(x, 1);", "fetch_add(x, 1);"], [(6, 0); 3]);
}

#[test]
fn choices_are_part_of_traces_and_blocked_threads_make_them_stuck() {
    check_counts(&["r0 = choose(0..=2);"], [(3, 0); 3]);
    check_counts(&["r0 = choose(0..=1); if (r0 == 1) x = 1;", "r0 = x;"], [(3, 0); 3]);
    check_counts(&["atomic { r0 = choose(0..=1); x = 1; }", "r0 = x;"], [(4, 0); 3]);
    check_counts(&["x = 1;", "r0 = x; assume(r0 == 1); y = 1;"], [(1, 1); 3]);
    check_counts(&["x = 1;", "atomic { r0 = x; assume(r0 == 1); } y = 1;"], [(1, 0); 3]);
    // The trace in which both threads read 0 and are stuck is not an SC trace.
    let stuck = ["x = 1; r0 = y; assume(r0 == 1);", "y = 1; r0 = x; assume(r0 == 1);"];
    check_counts(&stuck, [(1, 2), (1, 3), (1, 3)]);
    // An atomic block may be blocked forever.
    check_counts(&["x = 1; x = 0;", "atomic { r0 = x; assume(r0 == 1); }"], [(1, 1); 3]);
}

#[test]
fn failed_spin_iterations_are_not_events() {
    // The loads of failed spin iterations are not events.
    check_counts(&["x = 1;", "while (x == 0) { } y = 1;"], [(1, 0); 3]);
    check_counts(&["x = 1; x = 0;", "do { r0 = x; } while (r0 == 0);"], [(1, 1); 3]);
    let both = ["x = 1; while (y == 0) { }", "y = 1; while (x == 0) { }"];
    check_counts(&both, [(1, 0); 3]);
    check_counts(&["x = 1; while (y == 0) { }", "y = 1; r0 = x;"], [(2, 0); 3]);
    // A lock that the threads acquire one after the other.
    let locked = "while (!cas(z, 0, 1)) { } r0 = x; x = r0 + 1; z = 0;";
    check_counts(&[locked, locked], [(2, 0), (2, 0), (6, 0)]);
    // A loop that counts its iterations is not a spin loop.
    assert_eq!(sc_traces(&litmus(&["do { r0 = x; r1 = r1 + 1; } while (r0 == 0);"])), None);
}

#[test]
fn prefixes_include_every_partial_and_complete_trace() {
    let problem = litmus(&["x = 1; r0 = y;", "y = 1; r0 = x;"]);
    let all = sc_prefixes(&problem).expect("the program is small");
    let maximal = sc_traces(&problem).expect("the program is small");
    assert!(maximal.complete.is_subset(&all));
    // Prefixes by number of events per thread. At most one event in each thread: 4. Two and none: 2
    // * 1. Two and one: 2 * 2. Two and two: 3.
    assert_eq!(all.len(), 4 + 2 + 4 + 3);
}

#[test]
fn programs_with_failing_or_infinite_runs_are_rejected() {
    assert_eq!(sc_traces(&litmus(&["r0 = 0; assert(r0 == 1);"])), None);
    assert_eq!(sc_traces(&litmus(&["r0 = 0; r0 = 1 / r0;"])), None);
    assert_eq!(sc_traces(&litmus(&["while (x == 0) { y = 1; }"])), None);
    // The assertion fails under TSO only.
    let late = "y = 1; r0 = x; r1 = z; assert(r0 == 1 || r1 != 1);";
    let fails = litmus(&["x = 1; r0 = y; z = r0 + 1;", late]);
    assert!(sc_traces(&fails).is_some());
    assert_eq!(tso_traces(&fails), None);
}

#[test]
fn interleavings_count_visible_steps_only() {
    assert_eq!(sc_interleavings(&litmus(&["x = 1; r0 = y;", "y = 1; r0 = x;"])), Some(6));
    let invisible =
        ["x = 1; fence; skip; r0 = y;", "r0 = 5; y = 1; drain y; r0 = x;", "z = 1; fence;"];
    assert_eq!(sc_interleavings(&litmus(&invisible)), Some(30));
    assert_eq!(sc_interleavings(&litmus(&["x = 1;", "atomic { y = 1; r0 = x; } z = 1;"])), Some(3));
    // A `choose` is a visible step.
    assert_eq!(sc_interleavings(&litmus(&["x = 1;", "r0 = choose(0..=1); y = 1;"])), Some(6));
    let block = ["x = 1;", "atomic { r0 = choose(0..=1); r0 = 0; y = 1; }"];
    assert_eq!(sc_interleavings(&litmus(&block)), Some(4));
    assert_eq!(sc_interleavings(&litmus(&["while (x == 0) { y = 1; }"])), None);
}

/// Returns the outcomes of all final states.
fn outcomes(problem: &Problem, model: BufferModel) -> Option<BTreeSet<Vec<Value>>> {
    let machine = Machine::new(&problem.program, model);
    let mut outcomes = BTreeSet::new();
    visit_states(&machine, MAX_STATES, true, |state, last| {
        if last && machine.all_halted(state) {
            let value = |what: &Observable| match *what {
                Observable::Loc(loc) => state.memory[loc.index()],
                Observable::Reg(thread, reg) => {
                    state.threads[thread.index()].registers[reg.index()]
                }
                Observable::At(..) => unreachable!("only invariants mention control points"),
            };
            outcomes.insert(problem.observed.iter().map(value).collect());
        }
    })?;
    Some(outcomes)
}

#[test]
fn random_programs_have_the_same_traces_with_eager_steps() {
    let (mut same, mut drawn) = (0, 0);
    for seed in seeds(20) {
        drawn += 1;
        let source = bounded(seed).to_string();
        let program = &problem(&source).program;
        for (model, _) in MODELS {
            let Some(plain) = traces(program, model, 60_000, false) else { continue };
            let eager = traces(program, model, MAX_STATES, true);
            assert_eq!(Some(plain), eager, "{model:?}\n{source}");
            same += 1;
        }
    }
    report_comparisons("trace sets: eager steps", same);
    assert!(same > 2 * drawn, "most programs are small enough to compare: {same}");
}

#[test]
fn random_programs_have_the_outcomes_of_the_reference_interpreter() {
    let (mut same, mut skipped) = (0, 0);
    let straight = seeds(25).map(|seed| program(Profile::Straight, seed));
    for drawn in seeds(25).map(bounded).chain(straight) {
        let source = drawn.to_string();
        let problem = &problem(&source);
        for (buffers, model) in MODELS {
            let report = reference::explore(problem, model, 100, 100_000);
            assert!(report.complete && !report.bound_hit);
            let fails = !report.faults.is_empty() || !report.assertion_failures.is_empty();
            let Some(found) = outcomes(problem, buffers) else {
                skipped += u64::from(!fails);
                continue;
            };
            assert!(
                !fails,
                "a run fails under {model:?}, but the enumeration accepts it\n{source}"
            );
            assert_eq!(found, report.outcomes, "{model:?}\n{source}");
            let traces = traces(&problem.program, buffers, MAX_STATES, true)
                .expect("the same exploration succeeded before");
            assert_eq!(!traces.stuck.is_empty(), report.deadlock, "{model:?}\n{source}");
            same += 1;
        }
    }
    report_comparisons("outcome sets: traces and reference", same);
    assert!(same > 8 * skipped, "{same} compared, {skipped} too large");
}
