//! The enumeration of traces: litmus tests whose traces can be counted by hand, the sets with and without eager
//! steps, and its reading of the book against that of the reference interpreter.

use std::collections::BTreeSet;

use fencepost_ir::{Observable, Problem, Value};
use fencepost_testkit::programs::{Profile, bounded, program};
use fencepost_testkit::{compared, problem, seeds};

use fencepost_conformance::reference::{self, Model};
use fencepost_conformance::traces::explore::{runs, traces};
use fencepost_conformance::traces::step::{Discipline, Steps};
use fencepost_conformance::traces::{
    STATES, pso_traces, sc_interleavings, sc_prefixes, sc_traces, tso_traces,
};

const MODELS: [(Discipline, Model); 3] =
    [(Discipline::Sc, Model::Sc), (Discipline::Tso, Model::Tso), (Discipline::Pso, Model::Pso)];

fn litmus(threads: &[&str]) -> Problem {
    let mut source = "shared int x, y, z;\n".to_string();
    for (at, body) in threads.iter().enumerate() {
        source += &format!("thread t{at} {{ {body} }}\n");
    }
    problem(&(source + "observe x;"))
}

/// Checks how many complete and stuck traces there are under SC, TSO and PSO.
#[track_caller]
fn count(threads: &[&str], expected: [(usize, usize); 3]) {
    let problem = litmus(threads);
    let sets = [sc_traces(&problem), tso_traces(&problem), pso_traces(&problem)];
    let sets = sets.map(|set| set.expect("small, and nothing goes wrong"));
    let [sc, tso, pso] = &sets;
    assert!(sc.complete.is_subset(&tso.complete) && tso.complete.is_subset(&pso.complete));
    assert!(sc.stuck.is_subset(&tso.stuck) && tso.stuck.is_subset(&pso.stuck));
    assert_eq!(sets.map(|set| (set.complete.len(), set.stuck.len())), expected, "{threads:?}");
}

#[test]
fn store_buffering() {
    count(&["x = 1; r0 = y;", "y = 1; r0 = x;"], [(3, 0), (4, 0), (4, 0)]);
    for fence in ["fence;", "fence store_load;", "drain x; drain y;"] {
        let (p, q) = (format!("x = 1; {fence} r0 = y;"), format!("y = 1; {fence} r0 = x;"));
        count(&[&p, &q], [(3, 0); 3]);
    }
    let (p, q) = ("x = 1; fence store_store; r0 = y;", "y = 1; fence; r0 = x;");
    count(&[p, q], [(3, 0), (4, 0), (4, 0)]);
    // An update waits for the whole queue under TSO, for its own location's under PSO.
    count(&["x = 1; swap(z, 1); r0 = y;", "y = 1; fence; r0 = x;"], [(3, 0), (3, 0), (4, 0)]);
    count(&["x = 1; atomic { r0 = y; }", "y = 1; atomic { r0 = x; }"], [(3, 0); 3]);
}

#[test]
fn message_passing() {
    count(&["x = 1; y = 1;", "r0 = y; r1 = x;"], [(3, 0), (3, 0), (4, 0)]);
    for fence in ["fence store_store;", "fence;", "drain x;"] {
        count(&[&format!("x = 1; {fence} y = 1;"), "r0 = y; r1 = x;"], [(3, 0); 3]);
    }
    // Whoever wrote last leaves the same memory, but the order of the writes tells traces apart.
    count(&["x = 1; y = 1;", "x = 1; y = 1;"], [(4, 0); 3]);
    count(&["x = 1; y = 1;", "y = 1; x = 1;"], [(3, 0), (3, 0), (4, 0)]);
}

#[test]
fn own_stores_and_updates() {
    // A forwarded load reads its own store before anyone else does; the trace does not tell when.
    count(&["x = 1; r0 = x;", "r0 = x;"], [(2, 0); 3]);
    count(&["x = 1; r0 = x; r1 = y;", "y = 1; r0 = y; r1 = x;"], [(3, 0), (4, 0), (4, 0)]);
    // One fails, and only reads.
    count(&["cas(x, 0, 1);", "cas(x, 0, 2);"], [(2, 0); 3]);
    count(&["fetch_add(x, 1);", "fetch_add(x, 1);", "fetch_add(x, 1);"], [(6, 0); 3]);
}

#[test]
fn choices_branches_and_stuck_threads() {
    count(&["r0 = choose(0..=2);"], [(3, 0); 3]);
    count(&["r0 = choose(0..=1); if (r0 == 1) x = 1;", "r0 = x;"], [(3, 0); 3]);
    count(&["atomic { r0 = choose(0..=1); x = 1; }", "r0 = x;"], [(4, 0); 3]);
    count(&["x = 1;", "r0 = x; assume(r0 == 1); y = 1;"], [(1, 1); 3]);
    count(&["x = 1;", "atomic { r0 = x; assume(r0 == 1); } y = 1;"], [(1, 0); 3]);
    // Stuck when the other one is: the only trace in which both read 0 is not SC.
    let stuck = ["x = 1; r0 = y; assume(r0 == 1);", "y = 1; r0 = x; assume(r0 == 1);"];
    count(&stuck, [(1, 2), (1, 3), (1, 3)]);
    // A block waits for ever.
    count(&["x = 1; x = 0;", "atomic { r0 = x; assume(r0 == 1); }"], [(1, 1); 3]);
}

#[test]
fn waits() {
    // What is read in vain is no event.
    count(&["x = 1;", "while (x == 0) { } y = 1;"], [(1, 0); 3]);
    count(&["x = 1; x = 0;", "do { r0 = x; } while (r0 == 0);"], [(1, 1); 3]);
    let both = ["x = 1; while (y == 0) { }", "y = 1; while (x == 0) { }"];
    count(&both, [(1, 0); 3]);
    count(&["x = 1; while (y == 0) { }", "y = 1; r0 = x;"], [(2, 0); 3]);
    // A lock, taken by one after the other.
    let locked = "while (!cas(z, 0, 1)) { } r0 = x; x = r0 + 1; z = 0;";
    count(&[locked, locked], [(2, 0), (2, 0), (6, 0)]);
    // A count of rounds is not in vain.
    assert_eq!(sc_traces(&litmus(&["do { r0 = x; r1 = r1 + 1; } while (r0 == 0);"])), None);
}

#[test]
fn prefixes() {
    let problem = litmus(&["x = 1; r0 = y;", "y = 1; r0 = x;"]);
    let all = sc_prefixes(&problem).expect("it is small");
    let last = sc_traces(&problem).expect("it is small");
    assert!(last.complete.is_subset(&all));
    // With at most one event each: four. With both of one and none of the other: one each; and one
    // of the other: two each. In the end: three.
    assert_eq!(all.len(), 4 + 2 + 4 + 3);
}

#[test]
fn what_is_not_judged() {
    assert_eq!(sc_traces(&litmus(&["r0 = 0; assert(r0 == 1);"])), None);
    assert_eq!(sc_traces(&litmus(&["r0 = 0; r0 = 1 / r0;"])), None);
    assert_eq!(sc_traces(&litmus(&["while (x == 0) { y = 1; }"])), None);
    // Only under TSO does the assertion fail.
    let late = "y = 1; r0 = x; r1 = z; assert(r0 == 1 || r1 != 1);";
    let fails = litmus(&["x = 1; r0 = y; z = r0 + 1;", late]);
    assert!(sc_traces(&fails).is_some());
    assert_eq!(tso_traces(&fails), None);
}

#[test]
fn interleavings() {
    assert_eq!(sc_interleavings(&litmus(&["x = 1; r0 = y;", "y = 1; r0 = x;"])), Some(6));
    let free = ["x = 1; fence; skip; r0 = y;", "r0 = 5; y = 1; drain y; r0 = x;", "z = 1; fence;"];
    assert_eq!(sc_interleavings(&litmus(&free)), Some(30));
    assert_eq!(sc_interleavings(&litmus(&["x = 1;", "atomic { y = 1; r0 = x; } z = 1;"])), Some(3));
    // A choice is a step of its own.
    assert_eq!(sc_interleavings(&litmus(&["x = 1;", "r0 = choose(0..=1); y = 1;"])), Some(6));
    let block = ["x = 1;", "atomic { r0 = choose(0..=1); r0 = 0; y = 1; }"];
    assert_eq!(sc_interleavings(&litmus(&block)), Some(4));
    assert_eq!(sc_interleavings(&litmus(&["while (x == 0) { y = 1; }"])), None);
}

/// The observed values of all final states.
fn outcomes(problem: &Problem, discipline: Discipline) -> Option<BTreeSet<Vec<Value>>> {
    let steps = Steps { program: &problem.program, discipline };
    let mut outcomes = BTreeSet::new();
    runs(&steps, STATES, true, |state, last| {
        if last && steps.all_halted(state) {
            let value = |what: &Observable| match *what {
                Observable::Loc(loc) => state.memory[loc.index()],
                Observable::Reg(thread, reg) => {
                    state.threads[thread.index()].registers[reg.index()]
                }
            };
            outcomes.insert(problem.observed.iter().map(value).collect());
        }
    })?;
    Some(outcomes)
}

#[test]
fn random_programs_lose_nothing_by_eager_steps() {
    let (mut same, mut drawn) = (0, 0);
    for seed in seeds(20) {
        drawn += 1;
        let source = bounded(seed).to_string();
        let program = &problem(&source).program;
        for (discipline, _) in MODELS {
            let Some(plain) = traces(program, discipline, 60_000, false) else { continue };
            let eager = traces(program, discipline, STATES, true);
            assert_eq!(Some(plain), eager, "{discipline:?}\n{source}");
            same += 1;
        }
    }
    compared("trace sets: eager steps", same);
    assert!(same > 2 * drawn, "most are small enough: {same}");
}

#[test]
fn random_programs_have_the_outcomes_of_the_reference() {
    let (mut same, mut skipped) = (0, 0);
    let straight = seeds(25).map(|seed| program(Profile::Straight, seed));
    for drawn in seeds(25).map(bounded).chain(straight) {
        let source = drawn.to_string();
        let problem = &problem(&source);
        for (discipline, model) in MODELS {
            let report = reference::explore(problem, model, 100, 100_000);
            assert!(report.complete && !report.bound_hit);
            let wrong = !report.faults.is_empty() || !report.assertion_failures.is_empty();
            let Some(found) = outcomes(problem, discipline) else {
                skipped += u64::from(!wrong);
                continue;
            };
            assert!(!wrong, "something goes wrong under {model:?}\n{source}");
            assert_eq!(found, report.outcomes, "{model:?}\n{source}");
            let traces = traces(&problem.program, discipline, STATES, true).expect("as before");
            assert_eq!(!traces.stuck.is_empty(), report.deadlock, "{model:?}\n{source}");
            same += 1;
        }
    }
    compared("outcome sets: traces and reference", same);
    assert!(same > 8 * skipped, "{same} compared, {skipped} too large");
}
