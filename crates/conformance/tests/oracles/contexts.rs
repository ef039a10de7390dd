//! The reference interpreter with context bounds: programs whose states within a bound are derived
//! by hand, and a comparison with the unbounded models for bounds without effect.

use std::collections::BTreeSet;

use fencepost_ir::{Problem, Value};
use fencepost_testkit::programs::{Profile, bounded, program};
use fencepost_testkit::{problem, report_comparisons, seeds};

use fencepost_conformance::reference;
use fencepost_conformance::reference::contexts::Bound::{Ages, Switches};
use fencepost_conformance::reference::contexts::Model::{Pso, Sc, Tso};
use fencepost_conformance::reference::contexts::{Bound, ContextReport, Model, explore};

const MAX_STATES: usize = 200_000;

/// Builds a program with the locations `x`, `y`, `z`, `w`, in this order.
fn litmus(threads: &[&str], observed: &str) -> Problem {
    let mut source = "shared int x, y, z, w;\n".to_string();
    for (at, body) in threads.iter().enumerate() {
        source += &format!("thread t{at} {{ int r0; int r1; {body} }}\n");
    }
    problem(&format!("{source}observe {observed};"))
}

fn explored(problem: &Problem, model: Model, bound: Bound) -> ContextReport {
    let explored = explore(problem, model, bound, MAX_STATES);
    assert!(explored.report.complete, "the program is small enough to explore it completely");
    explored
}

fn outcomes(problem: &Problem, model: Model, bound: Bound) -> BTreeSet<Vec<Value>> {
    explored(problem, model, bound).report.outcomes
}

/// Returns the values of the first `count` locations in all states.
fn memories(problem: &Problem, model: Model, bound: Bound, count: usize) -> BTreeSet<Vec<Value>> {
    let prefix = |memory: Vec<Value>| memory[..count].to_vec();
    explored(problem, model, bound).memories.into_iter().map(prefix).collect()
}

fn set<const N: usize>(values: &[[Value; N]]) -> BTreeSet<Vec<Value>> {
    values.iter().map(|value| value.to_vec()).collect()
}

#[test]
fn store_buffering_needs_a_second_context() {
    let sb = litmus(&["x = 1; r0 = y;", "y = 1; r0 = x;"], "t0.r0, t1.r0");
    for model in [Tso, Pso] {
        // The threads run one after the other. The store of the first one may stay pending.
        assert_eq!(outcomes(&sb, model, Switches(0)), set(&[[0, 1], [1, 0]]));
        let all = set(&[[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(memories(&sb, model, Switches(0), 2), all);
        // The first thread commits in its second context.
        assert_eq!(outcomes(&sb, model, Switches(1)), all);
        assert_eq!(outcomes(&sb, model, Ages(0)), set(&[[0, 1], [1, 0], [1, 1]]));
        assert_eq!(outcomes(&sb, model, Ages(1)), all);
    }
    assert_eq!(outcomes(&sb, Sc, Switches(3)), set(&[[0, 1], [1, 0], [1, 1]]));
}

#[test]
fn fences_forbid_store_buffering_within_every_bound() {
    for fence in ["fence;", "fence store_load;"] {
        let first = format!("x = 1; {fence} r0 = y;");
        let second = format!("y = 1; {fence} r0 = x;");
        let sb = litmus(&[&first, &second], "t0.r0, t1.r0");
        for model in [Tso, Pso] {
            for bound in [Switches(3), Ages(3)] {
                let found = outcomes(&sb, model, bound);
                assert_eq!(found, set(&[[0, 1], [1, 0], [1, 1]]), "{fence} {model:?} {bound:?}");
            }
        }
    }
}

#[test]
fn a_store_may_stay_pending_forever() {
    // The second store of each thread shows the value that the thread read while its first store
    // was pending.
    let sb = litmus(&["x = 1; r0 = y; z = r0 + 1;", "y = 1; r0 = x; w = r0 + 1;"], "x");
    let both_early =
        |model, bound, x, y| explored(&sb, model, bound).memories.contains(&vec![x, y, 1, 1]);
    // Under PSO, the store to z overtakes the store to x, which stays pending forever.
    assert!(both_early(Pso, Switches(0), 0, 1));
    assert!(both_early(Pso, Ages(0), 1, 0));
    assert!(!both_early(Pso, Switches(0), 1, 1));
    assert!(!both_early(Pso, Ages(0), 1, 1));
    assert!(both_early(Pso, Switches(1), 1, 1));
    assert!(both_early(Pso, Ages(1), 1, 1));
    // Under TSO, the store to x commits first, in a later context.
    for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert!(!both_early(Tso, Switches(0), x, y));
        assert!(!both_early(Tso, Ages(0), x, y));
    }
    assert!(both_early(Tso, Switches(1), 1, 1));
    assert!(both_early(Tso, Ages(1), 1, 1));
}

#[test]
fn message_passing_is_reordered_under_pso_only() {
    let mp = litmus(&["x = 1; y = 1;", "r0 = y; r1 = x;"], "t1.r0, t1.r1");
    let without_switch = set(&[[0, 0], [1, 1]]);
    let sc = set(&[[0, 0], [0, 1], [1, 1]]);
    let all = set(&[[0, 0], [0, 1], [1, 0], [1, 1]]);
    for model in [Sc, Tso, Pso] {
        assert_eq!(outcomes(&mp, model, Switches(0)), without_switch);
        assert_eq!(outcomes(&mp, model, Ages(0)), sc);
        let expected = if model == Pso { &all } else { &sc };
        for bound in [Switches(1), Ages(1), Bound::None] {
            assert_eq!(&outcomes(&mp, model, bound), expected, "{model:?} {bound:?}");
        }
    }
    assert_eq!(memories(&mp, Tso, Switches(0), 2), set(&[[0, 0], [1, 0], [1, 1]]));
    assert_eq!(
        memories(&mp, Pso, Switches(0), 2),
        set(&[[0, 0], [0, 1], [1, 0], [1, 1]]),
        "y may be committed first although no thread has read it"
    );
    let fenced = litmus(&["x = 1; fence store_store; y = 1;", "r0 = y; r1 = x;"], "t1.r0, t1.r1");
    assert_eq!(outcomes(&fenced, Pso, Switches(3)), sc);
    assert_eq!(outcomes(&fenced, Pso, Ages(3)), sc);
}

#[test]
fn opposite_store_pairs_are_reordered_under_pso_only() {
    let writes = litmus(&["x = 1; y = 2;", "y = 1; x = 2;"], "x, y");
    assert_eq!(outcomes(&writes, Pso, Switches(0)), set(&[[1, 2], [2, 1]]));
    assert_eq!(outcomes(&writes, Tso, Switches(1)), set(&[[1, 2], [2, 1], [2, 2]]));
    assert_eq!(outcomes(&writes, Pso, Switches(1)), set(&[[1, 1], [1, 2], [2, 1], [2, 2]]));
    assert_eq!(outcomes(&writes, Pso, Ages(0)), set(&[[1, 2], [2, 1], [2, 2]]));
    assert_eq!(outcomes(&writes, Pso, Ages(1)), set(&[[1, 1], [1, 2], [2, 1], [2, 2]]));
}

#[test]
fn stores_to_one_location_stay_in_order() {
    let twice = litmus(&["x = 1; x = 2;", "r0 = x; r1 = x;"], "t1.r0, t1.r1");
    let in_order = set(&[[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]);
    for model in [Sc, Tso, Pso] {
        assert_eq!(memories(&twice, model, Switches(0), 1), set(&[[0], [1], [2]]));
        assert_eq!(outcomes(&twice, model, Switches(0)), set(&[[0, 0], [2, 2]]));
        assert_eq!(outcomes(&twice, model, Switches(2)), in_order);
        assert_eq!(outcomes(&twice, model, Ages(2)), in_order);
    }
}

#[test]
fn updates_wait_only_for_their_own_location_under_pso() {
    let swaps = litmus(&["x = 1; cas(y, 0, 1);", "skip;"], "x");
    assert_eq!(memories(&swaps, Tso, Switches(0), 2), set(&[[0, 0], [1, 0], [1, 1]]));
    let all = set(&[[0, 0], [0, 1], [1, 0], [1, 1]]);
    assert_eq!(memories(&swaps, Pso, Switches(0), 2), all);
    assert_eq!(memories(&swaps, Pso, Ages(0), 2), all);
    for before in ["fence store_store;", "fence store_load;", "fence;", "drain x;"] {
        let first = format!("x = 1; {before} cas(y, 0, 1);");
        let swaps = litmus(&[&first, "skip;"], "x");
        let found = memories(&swaps, Pso, Switches(0), 2);
        assert_eq!(found, set(&[[0, 0], [1, 0], [1, 1]]), "{before}");
    }
}

/// Builds two threads that alternate, with statements before and after.
fn alternating(before: &str, after: &str) -> Problem {
    let first =
        format!("{before} x = 1; r0 = y; assume(r0 == 1); x = 2; r0 = y; assume(r0 == 2); x = 3;");
    let second = format!(
        "r0 = x; assume(r0 == 1); y = 1; r0 = x; assume(r0 == 2); y = 2; r0 = x; assume(r0 == 3); {after}"
    );
    litmus(&[&first, &second], "x")
}

#[test]
fn a_thread_begins_at_most_k_plus_one_contexts() {
    let problem = alternating("", "y = 3;");
    for model in [Sc, Tso, Pso] {
        for k in 0..3 {
            let max = |at: usize| {
                let found = explored(&problem, model, Switches(k)).memories;
                found.iter().map(|memory| memory[at]).max().expect("there is an initial state")
            };
            // The first thread stores x = k + 1 in context k, counted from 0. The other one stores
            // the same to y.
            assert_eq!((max(0), max(1)), (k as Value + 1, k as Value + 1));
        }
    }
}

#[test]
fn a_store_is_pending_for_at_most_k_contexts() {
    // The first thread stores x = 3 in its third context. Then the other thread reads z.
    let problem = alternating("z = 1;", "r1 = z; w = r1 + 1;");
    let early =
        |model, bound, z| explored(&problem, model, bound).memories.contains(&vec![3, 2, z, 1]);
    for z in [0, 1] {
        assert!(!early(Pso, Ages(0), z));
        assert!(!early(Pso, Ages(1), z));
        assert!(!early(Tso, Bound::None, z));
    }
    assert!(early(Pso, Ages(2), 0));
    assert!(!early(Pso, Ages(2), 1), "the store must be committed in the fourth context");
    assert!(early(Pso, Ages(3), 1));
    assert!(early(Pso, Switches(2), 0));
    assert!(!early(Pso, Switches(2), 1));
    assert!(early(Pso, Switches(3), 1));
}

#[test]
fn assertion_failures_respect_the_bound() {
    let sb =
        litmus(&["x = 1; r0 = y; z = r0 + 1;", "y = 1; r0 = x; assert(r0 == 1 || z != 1);"], "x");
    let fails = |model, bound| !explored(&sb, model, bound).report.assertion_failures.is_empty();
    // Both threads have read early if r0 == 0 and z == 1. Under PSO, x may stay pending forever.
    assert!(fails(Pso, Switches(0)) && fails(Pso, Ages(0)));
    // Under TSO, y must stay pending until the first thread has finished.
    assert!(!fails(Tso, Switches(0)) && !fails(Tso, Ages(0)));
    assert!(fails(Tso, Switches(1)) && fails(Tso, Ages(1)));
    assert!(!fails(Sc, Bound::None));
}

#[test]
fn mutual_exclusion_is_violated_under_tso_and_pso_only() {
    let lock = "flag[I] = 1; r0 = flag[1 - I]; assume(r0 == 0); critical { skip; }";
    let thread = |at: &str| format!("int r0; {}", lock.replace('I', at));
    let (first, second) = (thread("0"), thread("1"));
    let source = format!(
        "shared int flag[2]; thread p {{ {first} }} thread q {{ {second} }} property mutual_exclusion;"
    );
    let lock = problem(&source);
    let is_violated = |model, bound| explored(&lock, model, bound).report.mutual_exclusion_violated;
    for model in [Tso, Pso] {
        // A thread whose store is never committed enters unobserved.
        assert!(is_violated(model, Switches(0)) && is_violated(model, Ages(0)));
    }
    assert!(!is_violated(Sc, Switches(3)));
}

/// Checks that a bound without effect gives the behaviour of the unbounded model, and that the
/// behaviour is monotone in the bound. Returns whether a comparison was made.
fn compare_with_unbounded_model(source: &str) -> bool {
    let problem = problem(source);
    let mut compared = 0;
    for (model, plain) in
        [(Sc, reference::Model::Sc), (Tso, reference::Model::Tso), (Pso, reference::Model::Pso)]
    {
        let expected = reference::explore(&problem, plain, usize::MAX, 600);
        if !expected.complete {
            continue;
        }
        let states = expected.states;
        let unbounded = explore(&problem, model, Bound::None, MAX_STATES);
        assert_eq!(
            unbounded.report,
            reference::Report {
                deadlock: false,
                hang: false,
                operation_violations: BTreeSet::new(),
                ..expected
            },
            "{source}"
        );
        for bound in [Switches, Ages] as [fn(usize) -> Bound; 2] {
            let mut before: Option<ContextReport> = None;
            for k in [0, 1, 2, 3, states] {
                let found = explore(&problem, model, bound(k), MAX_STATES);
                if !found.report.complete {
                    break;
                }
                if let Some(before) = &before {
                    assert!(found.memories.is_superset(&before.memories), "{k} {source}");
                    let (less, more) = (&before.report, &found.report);
                    assert!(more.outcomes.is_superset(&less.outcomes), "{k} {source}");
                    assert!(more.faults.is_superset(&less.faults), "{k} {source}");
                }
                before = Some(found);
                if k == states {
                    let found = before.as_ref().expect("just found");
                    assert_eq!(found.memories, unbounded.memories, "{model:?} {source}");
                    let states = unbounded.report.states;
                    let report = reference::Report { states, ..found.report.clone() };
                    assert_eq!(report, unbounded.report, "{model:?} {source}");
                    compared += 1;
                }
            }
        }
    }
    compared > 0
}

#[test]
fn random_programs_without_a_bound_behave_as_in_the_unbounded_model() {
    let (mut same, mut drawn) = (0, 0);
    for seed in seeds(3) {
        drawn += 6;
        same += u64::from(compare_with_unbounded_model(&bounded(seed).to_string()));
        for profile in Profile::ALL {
            same += u64::from(compare_with_unbounded_model(&program(profile, seed).to_string()));
        }
    }
    report_comparisons("programs: contexts without a bound", same);
    assert!(same * 2 > drawn, "most programs are small enough to compare: {same}");
}
