//! Litmus shapes: which outcomes each model allows, and how many executions there are.
//!
//! The sets are those of the literature and of the engines for `.fp` programs.

use fencepost_test::sync::atomic::{AtomicU32, Ordering, fence};
use fencepost_test::{Checker, Model, Report, thread};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use Ordering::{Acquire, Relaxed, Release, SeqCst};

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

type Outcomes = BTreeSet<Vec<u32>>;
/// A thread over variables of one cell: one place in the source creates them.
type Body<const VARIABLES: usize> = fn(&[AtomicU32; VARIABLES]) -> Vec<u32>;
/// A thread over two variables.
type Pair = fn(&AtomicU32, &AtomicU32) -> Vec<u32>;

/// Runs threads over shared variables. The outcome is what each thread returns, then the final
/// values of the variables if `with_memory`.
fn outcomes<const VARIABLES: usize>(
    model: Model,
    with_memory: bool,
    threads: &'static [Body<VARIABLES>],
) -> (Outcomes, Report) {
    let seen = Arc::new(Mutex::new(Outcomes::new()));
    let collected = Arc::clone(&seen);
    let report = Checker::new().model(model).run(move || {
        let variables: [AtomicU32; VARIABLES] = std::array::from_fn(|_| AtomicU32::new(0));
        let mut outcome: Vec<u32> = thread::scope(|scope| {
            let variables = &variables;
            let start = |body: &Body<VARIABLES>| {
                let body = *body;
                scope.spawn(move || body(variables))
            };
            let handles: Vec<_> = threads.iter().map(start).collect();
            handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
        });
        if with_memory {
            outcome.extend(variables.iter().map(|variable| variable.load(Relaxed)));
        }
        collected.lock().unwrap().insert(outcome);
    });
    assert!(report.is_verified(), "{report}");
    let seen = seen.lock().unwrap().clone();
    (seen, report)
}

fn set(outcomes: &[&[u32]]) -> Outcomes {
    outcomes.iter().map(|outcome| outcome.to_vec()).collect()
}

/// Two variables that are created at different places, so that they have different cells.
fn two_threads(model: Model, one: Pair, other: Pair) -> (Outcomes, Report) {
    let seen = Arc::new(Mutex::new(Outcomes::new()));
    let collected = Arc::clone(&seen);
    let report = Checker::new().model(model).run(move || {
        let x = AtomicU32::new(0);
        let y = AtomicU32::new(0);
        let outcome = thread::scope(|scope| {
            let one = scope.spawn(|| one(&x, &y));
            let other = scope.spawn(|| other(&x, &y));
            [one.join().unwrap(), other.join().unwrap()].concat()
        });
        collected.lock().unwrap().insert(outcome);
    });
    assert!(report.is_verified(), "{report}");
    let seen = seen.lock().unwrap().clone();
    (seen, report)
}

#[test]
fn store_buffering_has_three_traces_under_sc() {
    let (outcomes, report) = two_threads(
        Model::Sc,
        |x, y| {
            x.store(1, Relaxed);
            vec![y.load(Relaxed)]
        },
        |x, y| {
            y.store(1, Relaxed);
            vec![x.load(Relaxed)]
        },
    );
    assert_eq!(outcomes, set(&[&[0, 1], &[1, 0], &[1, 1]]));
    assert_eq!(report.executions(), 3);
}

#[test]
fn store_buffering_reads_old_values_under_tso_and_pso() {
    for model in [Model::Tso, Model::Pso] {
        let (outcomes, _) = two_threads(
            model,
            |x, y| {
                x.store(1, Release);
                vec![y.load(Acquire)]
            },
            |x, y| {
                y.store(1, Relaxed);
                vec![x.load(SeqCst)]
            },
        );
        assert_eq!(outcomes, set(&[&[0, 0], &[0, 1], &[1, 0], &[1, 1]]), "{model}");
    }
}

#[test]
fn fences_and_strong_stores_and_updates_forbid_store_buffering() {
    let variants: [(Pair, Pair); 3] = [
        (
            |x, y| {
                x.store(1, SeqCst);
                vec![y.load(Relaxed)]
            },
            |x, y| {
                y.store(1, SeqCst);
                vec![x.load(Relaxed)]
            },
        ),
        (
            |x, y| {
                x.store(1, Relaxed);
                fence(SeqCst);
                vec![y.load(Relaxed)]
            },
            |x, y| {
                y.store(1, Relaxed);
                fence(SeqCst);
                vec![x.load(Relaxed)]
            },
        ),
        (
            |x, y| {
                x.swap(1, Relaxed);
                vec![y.load(Relaxed)]
            },
            |x, y| {
                y.fetch_add(1, Relaxed);
                vec![x.load(Relaxed)]
            },
        ),
    ];
    for (one, other) in variants {
        for model in MODELS {
            let (outcomes, _) = two_threads(model, one, other);
            assert_eq!(outcomes, set(&[&[0, 1], &[1, 0], &[1, 1]]), "{model}");
        }
    }
}

#[test]
fn message_passing_fails_only_under_pso_without_release() {
    let relaxed: Pair = |x, y| {
        x.store(1, Relaxed);
        y.store(1, Relaxed);
        vec![]
    };
    let release: Pair = |x, y| {
        x.store(1, Relaxed);
        y.store(1, Release);
        vec![]
    };
    let fenced: Pair = |x, y| {
        x.store(1, Relaxed);
        fence(Release);
        y.store(1, Relaxed);
        vec![]
    };
    let released_by_update: Pair = |x, y| {
        x.store(1, Relaxed);
        y.fetch_add(1, Release);
        vec![]
    };
    let relaxed_update: Pair = |x, y| {
        x.store(1, Relaxed);
        y.fetch_add(1, Relaxed);
        vec![]
    };
    let reader: Pair = |x, y| vec![y.load(Acquire), x.load(Relaxed)];
    let ordered = set(&[&[0, 0], &[0, 1], &[1, 1]]);
    let all = set(&[&[0, 0], &[0, 1], &[1, 0], &[1, 1]]);
    for model in MODELS {
        let weak = if model == Model::Pso { &all } else { &ordered };
        assert_eq!(&two_threads(model, relaxed, reader).0, weak, "{model}");
        assert_eq!(&two_threads(model, relaxed_update, reader).0, weak, "{model}");
        assert_eq!(two_threads(model, release, reader).0, ordered, "{model}");
        assert_eq!(two_threads(model, fenced, reader).0, ordered, "{model}");
        assert_eq!(two_threads(model, released_by_update, reader).0, ordered, "{model}");
    }
}

#[test]
fn load_buffering_is_forbidden() {
    for model in MODELS {
        let (outcomes, _) = two_threads(
            model,
            |x, y| {
                let read = x.load(Relaxed);
                y.store(1, Relaxed);
                vec![read]
            },
            |x, y| {
                let read = y.load(Relaxed);
                x.store(1, Relaxed);
                vec![read]
            },
        );
        assert_eq!(outcomes, set(&[&[0, 0], &[0, 1], &[1, 0]]), "{model}");
    }
}

#[test]
fn a_thread_forwards_its_own_pending_store() {
    // The variant of store buffering in which each thread first reads its own store.
    for model in MODELS {
        let (outcomes, _) = two_threads(
            model,
            |x, y| {
                x.store(1, Relaxed);
                vec![x.load(Relaxed), y.load(Relaxed)]
            },
            |x, y| {
                y.store(1, Relaxed);
                vec![y.load(Relaxed), x.load(Relaxed)]
            },
        );
        let mut expected = set(&[&[1, 0, 1, 1], &[1, 1, 1, 0], &[1, 1, 1, 1]]);
        if model != Model::Sc {
            expected.insert(vec![1, 0, 1, 0]);
        }
        assert_eq!(outcomes, expected, "{model}");
    }
}

#[test]
fn two_plus_two_writes_differ_only_under_pso() {
    for model in MODELS {
        let (outcomes, _) = outcomes::<2>(
            model,
            true,
            &[
                |[x, y]| {
                    x.store(1, Relaxed);
                    y.store(2, Relaxed);
                    vec![]
                },
                |[x, y]| {
                    y.store(1, Relaxed);
                    x.store(2, Relaxed);
                    vec![]
                },
            ],
        );
        let mut expected = set(&[&[1, 2], &[2, 1], &[2, 2]]);
        // The first store of each thread commits last.
        if model == Model::Pso {
            expected.insert(vec![1, 1]);
        }
        assert_eq!(outcomes, expected, "{model}");
    }
}

#[test]
fn all_threads_see_two_writes_in_the_same_order() {
    for model in MODELS {
        let (outcomes, _) = outcomes::<2>(
            model,
            false,
            &[
                |[x, _]| {
                    x.store(1, Relaxed);
                    vec![]
                },
                |[_, y]| {
                    y.store(1, Relaxed);
                    vec![]
                },
                |[x, y]| vec![x.load(Relaxed), y.load(Relaxed)],
                |[x, y]| vec![y.load(Relaxed), x.load(Relaxed)],
            ],
        );
        assert!(!outcomes.contains(&vec![1, 0, 1, 0]), "{model}");
        assert_eq!(outcomes.len(), 15, "{model}");
    }
}

#[test]
fn a_thread_reads_one_variable_in_order() {
    for model in MODELS {
        let (outcomes, _) = outcomes::<1>(
            model,
            false,
            &[
                |[x]| {
                    x.store(1, Relaxed);
                    x.store(2, Relaxed);
                    vec![]
                },
                |[x]| vec![x.load(Relaxed), x.load(Relaxed)],
            ],
        );
        let expected = set(&[&[0, 0], &[0, 1], &[0, 2], &[1, 1], &[1, 2], &[2, 2]]);
        assert_eq!(outcomes, expected, "{model}");
    }
}

#[test]
fn a_preemption_bound_is_part_of_the_verdict() {
    let body = || {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let handle = thread::spawn(move || {
            other.fetch_add(1, Relaxed);
            other.fetch_add(1, Relaxed);
        });
        x.fetch_add(1, Relaxed);
        x.fetch_add(1, Relaxed);
        handle.join().unwrap();
        assert_eq!(x.load(Relaxed), 4);
    };
    let bounded = Checker::new().preemptions(0).run(body);
    assert!(bounded.failure().is_none() && !bounded.is_verified(), "{bounded}");
    let all = Checker::new().preemptions(10).run(body);
    assert!(all.is_verified(), "{all}");
    let traces = Checker::new().run(body);
    assert!(traces.is_verified(), "{traces}");
    assert_eq!(traces.executions(), 6);
}
