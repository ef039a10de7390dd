//! The reference with context bounds: programs whose states within a bound were found by hand, and the plain models for
//! bounds that bound nothing.

use std::collections::BTreeSet;

use fencepost_ir::{Problem, Value};
use fencepost_testkit::programs::{Profile, bounded, program};
use fencepost_testkit::{compared, problem, seeds};

use fencepost_conformance::reference;
use fencepost_conformance::reference::contexts::Bound::{Ages, Switches};
use fencepost_conformance::reference::contexts::Model::{Pso, Sc, Tso};
use fencepost_conformance::reference::contexts::{Bound, Model, Reached, explore};

const STATES: usize = 200_000;

/// Locations x, y, z, w, in this order.
fn litmus(threads: &[&str], observed: &str) -> Problem {
    let mut source = "shared int x, y, z, w;\n".to_string();
    for (at, body) in threads.iter().enumerate() {
        source += &format!("thread t{at} {{ int r0; int r1; {body} }}\n");
    }
    problem(&format!("{source}observe {observed};"))
}

fn reached(problem: &Problem, model: Model, bound: Bound) -> Reached {
    let reached = explore(problem, model, bound, STATES);
    assert!(reached.report.complete, "a small program");
    reached
}

fn outcomes(problem: &Problem, model: Model, bound: Bound) -> BTreeSet<Vec<Value>> {
    reached(problem, model, bound).report.outcomes
}

/// Memory in all states, the first so many locations.
fn memories(problem: &Problem, model: Model, bound: Bound, many: usize) -> BTreeSet<Vec<Value>> {
    let cut = |memory: Vec<Value>| memory[..many].to_vec();
    reached(problem, model, bound).memories.into_iter().map(cut).collect()
}

fn set<const N: usize>(values: &[[Value; N]]) -> BTreeSet<Vec<Value>> {
    values.iter().map(|value| value.to_vec()).collect()
}

#[test]
fn store_buffering() {
    let sb = litmus(&["x = 1; r0 = y;", "y = 1; r0 = x;"], "t0.r0, t1.r0");
    for model in [Tso, Pso] {
        // One after the other; or the second one comes when the first never commits.
        assert_eq!(outcomes(&sb, model, Switches(0)), set(&[[0, 1], [1, 0]]));
        let all = set(&[[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(memories(&sb, model, Switches(0), 2), all);
        // The first one commits in its second context.
        assert_eq!(outcomes(&sb, model, Switches(1)), all);
        assert_eq!(outcomes(&sb, model, Ages(0)), set(&[[0, 1], [1, 0], [1, 1]]));
        assert_eq!(outcomes(&sb, model, Ages(1)), all);
    }
    assert_eq!(outcomes(&sb, Sc, Switches(3)), set(&[[0, 1], [1, 0], [1, 1]]));
}

#[test]
fn fences_forbid_it_within_every_bound() {
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
fn a_store_that_is_never_seen() {
    // What each thread read before its first store could be seen is shown by its second one.
    let sb = litmus(&["x = 1; r0 = y; z = r0 + 1;", "y = 1; r0 = x; w = r0 + 1;"], "x");
    let both_early =
        |model, bound, x, y| reached(&sb, model, bound).memories.contains(&vec![x, y, 1, 1]);
    // Under PSO, z overtakes x, which stays pending for ever.
    assert!(both_early(Pso, Switches(0), 0, 1));
    assert!(both_early(Pso, Ages(0), 1, 0));
    assert!(!both_early(Pso, Switches(0), 1, 1));
    assert!(!both_early(Pso, Ages(0), 1, 1));
    assert!(both_early(Pso, Switches(1), 1, 1));
    assert!(both_early(Pso, Ages(1), 1, 1));
    // Under TSO, x comes first, and comes in a later context.
    for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert!(!both_early(Tso, Switches(0), x, y));
        assert!(!both_early(Tso, Ages(0), x, y));
    }
    assert!(both_early(Tso, Switches(1), 1, 1));
    assert!(both_early(Tso, Ages(1), 1, 1));
}

#[test]
fn message_passing() {
    let mp = litmus(&["x = 1; y = 1;", "r0 = y; r1 = x;"], "t1.r0, t1.r1");
    let whole = set(&[[0, 0], [1, 1]]);
    let sc = set(&[[0, 0], [0, 1], [1, 1]]);
    let all = set(&[[0, 0], [0, 1], [1, 0], [1, 1]]);
    for model in [Sc, Tso, Pso] {
        assert_eq!(outcomes(&mp, model, Switches(0)), whole);
        assert_eq!(outcomes(&mp, model, Ages(0)), sc);
        let bounded = if model == Pso { &all } else { &sc };
        for bound in [Switches(1), Ages(1), Bound::None] {
            assert_eq!(&outcomes(&mp, model, bound), bounded, "{model:?} {bound:?}");
        }
    }
    assert_eq!(memories(&mp, Tso, Switches(0), 2), set(&[[0, 0], [1, 0], [1, 1]]));
    assert_eq!(
        memories(&mp, Pso, Switches(0), 2),
        set(&[[0, 0], [0, 1], [1, 0], [1, 1]]),
        "y may come first although nobody has read it"
    );
    let fenced = litmus(&["x = 1; fence store_store; y = 1;", "r0 = y; r1 = x;"], "t1.r0, t1.r1");
    assert_eq!(outcomes(&fenced, Pso, Switches(3)), sc);
    assert_eq!(outcomes(&fenced, Pso, Ages(3)), sc);
}

#[test]
fn two_stores_each_way() {
    let writes = litmus(&["x = 1; y = 2;", "y = 1; x = 2;"], "x, y");
    assert_eq!(outcomes(&writes, Pso, Switches(0)), set(&[[1, 2], [2, 1]]));
    assert_eq!(outcomes(&writes, Tso, Switches(1)), set(&[[1, 2], [2, 1], [2, 2]]));
    assert_eq!(outcomes(&writes, Pso, Switches(1)), set(&[[1, 1], [1, 2], [2, 1], [2, 2]]));
    assert_eq!(outcomes(&writes, Pso, Ages(0)), set(&[[1, 2], [2, 1], [2, 2]]));
    assert_eq!(outcomes(&writes, Pso, Ages(1)), set(&[[1, 1], [1, 2], [2, 1], [2, 2]]));
}

#[test]
fn stores_to_one_location_keep_their_order() {
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
fn updates_wait_for_less_under_pso() {
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

/// Two threads that take turns, with something to do before and after.
fn turns(before: &str, after: &str) -> Problem {
    let first =
        format!("{before} x = 1; r0 = y; assume(r0 == 1); x = 2; r0 = y; assume(r0 == 2); x = 3;");
    let second = format!(
        "r0 = x; assume(r0 == 1); y = 1; r0 = x; assume(r0 == 2); y = 2; r0 = x; assume(r0 == 3); {after}"
    );
    litmus(&[&first, &second], "x")
}

#[test]
fn contexts_are_counted() {
    let turns = turns("", "y = 3;");
    for model in [Sc, Tso, Pso] {
        for k in 0..3 {
            let most = |at: usize| {
                let found = reached(&turns, model, Switches(k)).memories;
                found.iter().map(|memory| memory[at]).max().expect("there is an initial state")
            };
            // The first thread stores x = k + 1 in its k-th context, and the other one answers.
            assert_eq!((most(0), most(1)), (k as Value + 1, k as Value + 1));
        }
    }
}

#[test]
fn ages_are_counted() {
    // In its third context the first thread stores x = 3, and then the other one reads z.
    let turns = turns("z = 1;", "r1 = z; w = r1 + 1;");
    let early =
        |model, bound, z| reached(&turns, model, bound).memories.contains(&vec![3, 2, z, 1]);
    for z in [0, 1] {
        assert!(!early(Pso, Ages(0), z));
        assert!(!early(Pso, Ages(1), z));
        assert!(!early(Tso, Bound::None, z));
    }
    assert!(early(Pso, Ages(2), 0));
    assert!(!early(Pso, Ages(2), 1), "to be committed in the fourth context");
    assert!(early(Pso, Ages(3), 1));
    assert!(early(Pso, Switches(2), 0));
    assert!(!early(Pso, Switches(2), 1));
    assert!(early(Pso, Switches(3), 1));
}

#[test]
fn errors_need_their_contexts() {
    let sb =
        litmus(&["x = 1; r0 = y; z = r0 + 1;", "y = 1; r0 = x; assert(r0 == 1 || z != 1);"], "x");
    let fails = |model, bound| !reached(&sb, model, bound).report.assertion_failures.is_empty();
    // Both have read early when r0 == 0 and z == 1. Under PSO, x may stay pending for ever.
    assert!(fails(Pso, Switches(0)) && fails(Pso, Ages(0)));
    // Under TSO, the second thread waits with y until the first one is through.
    assert!(!fails(Tso, Switches(0)) && !fails(Tso, Ages(0)));
    assert!(fails(Tso, Switches(1)) && fails(Tso, Ages(1)));
    assert!(!fails(Sc, Bound::None));
}

#[test]
fn critical_sections() {
    let lock = "flag[I] = 1; r0 = flag[1 - I]; assume(r0 == 0); critical { skip; }";
    let thread = |at: &str| format!("int r0; {}", lock.replace('I', at));
    let (first, second) = (thread("0"), thread("1"));
    let source = format!(
        "shared int flag[2]; thread p {{ {first} }} thread q {{ {second} }} property mutual_exclusion;"
    );
    let lock = problem(&source);
    let broken = |model, bound| reached(&lock, model, bound).report.mutual_exclusion_violated;
    for model in [Tso, Pso] {
        // Who never commits is inside without being seen.
        assert!(broken(model, Switches(0)) && broken(model, Ages(0)));
    }
    assert!(!broken(Sc, Switches(3)));
}

/// With a bound that does not matter everything is as in the plain model; with smaller ones there is
/// less, the smaller the less.
fn compare_with_plain(source: &str) -> bool {
    let problem = problem(source);
    let mut seen = 0;
    for (model, plain) in
        [(Sc, reference::Model::Sc), (Tso, reference::Model::Tso), (Pso, reference::Model::Pso)]
    {
        let expected = reference::explore(&problem, plain, usize::MAX, 600);
        if !expected.complete {
            continue;
        }
        let states = expected.states;
        let unbounded = explore(&problem, model, Bound::None, STATES);
        assert_eq!(
            unbounded.report,
            reference::Report {
                deadlock: false,
                operation_violations: BTreeSet::new(),
                ..expected
            },
            "{source}"
        );
        for bound in [Switches, Ages] as [fn(usize) -> Bound; 2] {
            let mut before: Option<Reached> = None;
            for k in [0, 1, 2, 3, states] {
                let found = explore(&problem, model, bound(k), STATES);
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
                    seen += 1;
                }
            }
        }
    }
    seen > 0
}

#[test]
fn random_programs_without_a_bound_are_those_of_the_plain_model() {
    let (mut same, mut drawn) = (0, 0);
    for seed in seeds(3) {
        drawn += 6;
        same += u64::from(compare_with_plain(&bounded(seed).to_string()));
        for profile in Profile::ALL {
            same += u64::from(compare_with_plain(&program(profile, seed).to_string()));
        }
    }
    compared("programs: contexts without a bound", same);
    assert!(same * 2 > drawn, "most are small enough: {same}");
}
