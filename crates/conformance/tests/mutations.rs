//! Mutation tests of the memory models and of the partial-order reduction.
//!
//! Each mutation must change the result on some program of the suite. A mutation of a model must
//! give other outcomes than the reference interpreter. A mutation of the reduction must give other
//! outcomes or violations than a search without reductions.

use crate::common::model;
use fencepost_conformance::reference::{self, Model, explore as reference};
use fencepost_ir::{Problem, Value};
use fencepost_models::buffered::Buffered;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::pso::Pso;
use fencepost_models::sc::Sc;
use fencepost_models::table::Table;
use fencepost_models::tso::Tso;
use fencepost_models::{Machine, MemoryModel, Reductions};
use fencepost_search::{Cancel, Exploration, Limits, Options, Progress, explore};
use fencepost_testkit::programs::{Profile, critical_sections, program};
use fencepost_testkit::{corpus, problem};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// The bound on pending stores.
const BOUND: u32 = 3;
/// The bound on entries of a window.
const WINDOW: u32 = 5;

/// The reductions that omit no guess.
const ALL_GUESSES: Reductions =
    Reductions { partial_order: false, useful_guesses: false, ..Reductions::ALL };

type Outcomes = BTreeSet<Vec<Value>>;

fn search<M: MemoryModel>(machine: &Machine<'_, M>) -> Exploration {
    let (cancel, progress) = (&Cancel::default(), &Progress::default());
    let limits = Limits { states: 200_000, ..Limits::default() };
    let threads = NonZeroUsize::MIN;
    explore(machine, Options { limits, cancel, progress, threads, stop_at: None })
}

pub(crate) fn outcomes<M: MemoryModel>(
    problem: &Problem,
    model: M,
    reductions: Reductions,
) -> Outcomes {
    let found = search(&Machine::new(problem, model, reductions));
    let values = |fact: &Vec<u8>| {
        let (chunks, _) = fact.as_chunks::<8>();
        chunks.iter().map(|four| Value::from_le_bytes(*four)).collect()
    };
    found.facts.iter().map(values).collect()
}

/// Returns programs of the suite: the litmus tests of the corpus, and random programs.
fn programs() -> Vec<Problem> {
    let litmus = corpus::sources("litmus").into_iter().map(|(_, source)| problem(&source));
    let random = [Profile::Straight, Profile::Loops]
        .into_iter()
        .flat_map(|profile| (0..60).map(move |seed| problem(&program(profile, seed).to_string())));
    litmus.chain(random).collect()
}

/// Returns the outcomes of the reference interpreter for each program that is small enough.
fn expected(problems: &[Problem], model: Model, bound: u32) -> Vec<(&Problem, Outcomes)> {
    let report = |problem| {
        let report = reference(problem, model, bound as usize, 20_000);
        report.complete.then_some((problem, report.outcomes))
    };
    problems.iter().filter_map(report).collect()
}

/// Checks that the model agrees with the reference interpreter, and that each of these mutations
/// does not.
fn check_all_detected<M: MemoryModel>(
    problems: &[Problem],
    (name, reference, bound): (&str, Model, u32),
    (mutations, reductions): (&[Mutation], Reductions),
    model: impl Fn(Mutated) -> M,
) {
    let expected = expected(problems, reference, bound);
    let is_detected = |mutated: Mutated| {
        let mut expected = expected.iter();
        expected
            .any(|(problem, expected)| outcomes(problem, model(mutated), reductions) != *expected)
    };
    assert!(!is_detected(Mutated::NONE), "{name} without a mutation differs from the reference");
    for mutation in mutations {
        assert!(is_detected(Mutated::with(*mutation)), "{mutation:?} is not detected under {name}");
    }
}

#[test]
fn every_mutation_of_a_store_buffer_is_detected() {
    let mutations = [
        Mutation::NoForwarding,
        Mutation::OutOfOrderCommit,
        Mutation::IgnoredFence,
        Mutation::UpdateWithoutDrain,
    ];
    let problems = programs();
    let mutations = (&mutations[..], Reductions::ALL);
    check_all_detected(&problems, ("tso", Model::Tso, BOUND), mutations, |mutated| {
        Buffered(Tso { bound: BOUND, mutated })
    });
    check_all_detected(&problems, ("pso", Model::Pso, BOUND), mutations, |mutated| {
        Buffered(Pso { bound: BOUND, mutated })
    });
}

#[test]
fn every_mutation_of_a_table_is_detected() {
    let mutations = [
        Mutation::NoForwarding,
        Mutation::OutOfOrderCommit,
        Mutation::IgnoredFence,
        Mutation::UnknownAddressIgnored,
    ];
    for (name, table) in
        [("rmo-nospec", reference::Table::RMO_NOSPEC), ("rmo", reference::Table::RMO)]
    {
        let bypass = model(name).relaxes();
        let subject = (name, Model::Table(table), WINDOW);
        let mutations = (&mutations[..], Reductions::ALL);
        check_all_detected(&programs(), subject, mutations, |mutated| Table {
            bypass,
            bound: WINDOW,
            mutated,
        });
    }
}

#[test]
fn a_sum_that_is_not_wrapped_is_detected() {
    let source = "shared u8 n = 254; thread p(i in 0..2) { n.fetch_add(i + 1, relaxed); }
        thread q { r = n; } observe n, q.r;";
    let subject = ("rmo", Model::Table(reference::Table::RMO), WINDOW);
    let bypass = model("rmo").relaxes();
    let mutations = (&[Mutation::SumsNotWrapped][..], Reductions::ALL);
    check_all_detected(&[problem(source)], subject, mutations, |mutated| Table {
        bypass,
        bound: WINDOW,
        mutated,
    });
}

#[test]
fn every_mutation_of_the_order_of_guesses_is_detected() {
    let mutations =
        [Mutation::StoresIgnoreGuesses, Mutation::WrongGuessesKept, Mutation::LoadsWaitForGuesses];
    let subject = ("rmo", Model::Table(reference::Table::RMO), WINDOW);
    let bypass = model("rmo").relaxes();
    check_all_detected(&programs(), subject, (&mutations, ALL_GUESSES), |mutated| Table {
        bypass,
        bound: WINDOW,
        mutated,
    });
}

/// The mutations that concern violations, each with a program in which only a wrong guess has a
/// violation, or in which a guess is necessary for it.
#[test]
fn every_mutation_of_failures_behind_guesses_is_detected() {
    let property = "property mutual_exclusion; property deadlock_free;";
    let cases = [
        // The assertion, the division and the address fail only if y is 1, but it stays 0.
        (
            Mutation::SpeculativeFailuresCount,
            "shared int x, y; thread p { r = y; if (r == 1) { s = x; assert(false); } }",
        ),
        (
            Mutation::SpeculativeFailuresCount,
            "shared int x, y; thread p { r = y; if (r == 1) { s = x; t = 1 / s; } }",
        ),
        (
            Mutation::SpeculativeFailuresCount,
            "shared int x, y, a[2]; thread p { r = y; if (r == 1) { s = x; t = a[2 + s]; } }",
        ),
        // The record is not allocated until y is 1. The load is performed before that.
        (
            Mutation::SpeculativeFaultsForgotten,
            "record Node { int v; } pool Node[1]; shared Node n; shared int y;
             init { n = new Node; }
             thread p { m = n; fence; r = y; if (r == 1) { s = m.v; } }
             thread q { m = n; fence; free(m); k = new Node; fence; y = 1; }",
        ),
        (
            Mutation::AllocationsIgnoreGuesses,
            "record Node { int v; } pool Node[1]; shared int y, z;
             thread p { r = y; if (r == 1) { n = new Node; s = z; } }
             thread q { n = new Node; s = n.v; }",
        ),
        (
            Mutation::SpeculativeCriticalSections,
            "shared int y; thread p { r = y; if (r == 1) { critical { s = y; } } }
             thread q { critical { skip; } }",
        ),
        (
            Mutation::WrongGuessesDeadlock,
            "shared int x, y; thread p { r = y; if (r == 1) { s = x; } }",
        ),
    ];
    for (mutation, source) in cases {
        let problem = problem(&format!("{source}\n{property}"));
        let report =
            reference(&problem, Model::Table(reference::Table::RMO), WINDOW as usize, 20_000);
        let expected = !report.faults.is_empty()
            || !report.assertion_failures.is_empty()
            || report.mutual_exclusion_violated
            || report.hang;
        let is_violated = |mutated: Mutated| {
            let bypass = model("rmo").relaxes();
            let table = Table { bypass, bound: WINDOW, mutated };
            let mut machine = Machine::new(&problem, table, ALL_GUESSES);
            machine.mutated = mutated;
            !search(&machine).targets.is_empty()
        };
        assert_eq!(is_violated(Mutated::NONE), expected, "{source}");
        assert_ne!(is_violated(Mutated::with(mutation)), expected, "{mutation:?}\n{source}");
    }
}

/// Returns whether the reduction changes the outcomes or whether there is a violation.
fn reduction_changes_result<M: MemoryModel>(
    problem: &Problem,
    model: impl Fn(Mutated) -> M,
    mutated: Mutated,
) -> bool {
    let unreduced = Reductions { partial_order: false, ..Reductions::ALL };
    let all = search(&Machine::new(problem, model(Mutated::NONE), unreduced));
    let mut reduced = Machine::new(problem, model(mutated), Reductions::ALL);
    reduced.mutated = mutated;
    reduced.shape.mutated = mutated;
    reduced.race_threads = 0;
    let reduced = search(&reduced);
    let same = all.facts == reduced.facts && all.targets.is_empty() == reduced.targets.is_empty();
    // The reduction may be exact although the full search reaches the bound.
    !same && !all.bounded
}

#[test]
fn every_mutation_of_the_partial_order_reduction_is_detected() {
    let mut problems = programs();
    // The reduction must not postpone one thread forever in favour of the other.
    problems.push(problem(
        "shared int x, y; thread p { loop { r = y; } } thread q { x = 1; assert(x == 0); } observe x;",
    ));
    // A race for x is not complete before the second thread is about to access x.
    problems.push(problem(
        "shared int x, y; thread p { r = x; } thread q { s = y; x = 1; } thread u { y = 1; } \
         observe p.r, q.s;",
    ));
    problems.extend((0..40).map(|seed| problem(&critical_sections(seed).to_string())));
    // Both threads are at their labels at once only if neither step to a label is explored alone.
    problems.push(problem(
        "shared int x, y; thread p { x = 1; A: x = 2; } thread q { y = 1; B: y = 2; }
         invariant !(p at A && q at B);",
    ));
    // Another thread than the one that stores x lets u read x.
    problems.push(problem(
        "shared int x, go; thread p { x = 1; } thread q { atomic { go = 1; } }
         thread u { atomic { s = go; assume(s != 0); } r = x; } observe u.r;",
    ));
    // The mutations concern only the reduction.
    let tso = |_| Buffered(Tso { bound: BOUND, mutated: Mutated::NONE });
    let is_detected =
        |mutated| problems.iter().any(|problem| reduction_changes_result(problem, tso, mutated));
    assert!(!is_detected(Mutated::NONE), "the reduction without a mutation changes a result");
    for mutation in [
        Mutation::AccessesCommute,
        Mutation::BlocksCommute,
        Mutation::WaitsForAnyThread,
        Mutation::CommitsCommute,
        Mutation::RacesIgnoreOthers,
        Mutation::NoCycleProviso,
        Mutation::QuietLoads,
        Mutation::QuietForwarding,
        Mutation::EqualForOneValue,
        Mutation::CriticalSectionsInvisible,
        Mutation::ControlPointsInvisible,
    ] {
        assert!(is_detected(Mutated::with(mutation)), "{mutation:?} is not detected");
    }
}

#[test]
fn threads_that_wait_do_not_change_the_result_of_the_reduction() {
    let wait = "atomic { s = go; assume(s != 0); }";
    let record = "record Node { int v; } pool Node[2]; shared Node n; init { n = new Node; }";
    let programs = [
        // The flag is set in a block, which waits for the stores before it.
        format!(
            "shared int x, y, go; thread p {{ x = 1; y = 1; atomic {{ go = 1; }} x = 2; }}
                 thread u {{ {wait} r = y; q = x; y = 2; }} observe x, y, u.r, u.q;"
        ),
        // The flag is set by a store, which may become visible first under PSO.
        format!(
            "shared int x, go; thread p {{ x = 1; go = 1; }} thread u {{ {wait} r = x; }}
                 observe u.r;"
        ),
        format!(
            "shared int x, go; thread p {{ go = 1; x = 1; }} thread u {{ {wait} r = x; }}
                 observe u.r;"
        ),
        // Two threads set the flag.
        format!(
            "shared int x, go; thread p {{ x = 1; atomic {{ go = 1; }} }}
                 thread q {{ atomic {{ go = 2; }} }} thread u {{ {wait} r = x; }} observe u.r;"
        ),
        // The waiting thread has a store that is pending.
        format!(
            "shared int x, go; thread p {{ r = x; x = 2; atomic {{ go = 1; }} }}
                 thread u {{ x = 1; {wait} x = 3; }} observe x, p.r;"
        ),
        // A record is freed after the wait, or without a wait.
        format!(
            "{record} shared int go; thread p {{ k = n; k.v = 1; atomic {{ go = 1; }} }}
                 thread u {{ {wait} k = n; r = k.v; free(k); }} observe u.r;"
        ),
        format!(
            "{record} shared int go; thread p {{ k = n; k.v = 1; atomic {{ go = 1; }} k.v = 2; }}
                 thread u {{ {wait} k = n; free(k); m = new Node; }} observe go;"
        ),
    ];
    for text in programs {
        let problem = problem(&text);
        let mutated = Mutated::NONE;
        let sc = |_| Buffered(Sc);
        let tso = |_| Buffered(Tso { bound: BOUND, mutated });
        let pso = |_| Buffered(Pso { bound: BOUND, mutated });
        assert!(!reduction_changes_result(&problem, sc, mutated), "SC: {text}");
        assert!(!reduction_changes_result(&problem, tso, mutated), "TSO: {text}");
        assert!(!reduction_changes_result(&problem, pso, mutated), "PSO: {text}");
    }
}

#[test]
fn every_mutation_of_the_reduction_of_windows_is_detected() {
    let faults = [
        // p faults only if it reads 5.
        "shared int x; thread p { int(0..2) r = x; } thread q { x = 5; x = 0; } observe x;",
        // p faults only if q has freed the record.
        "record Node { int v; } pool Node[1]; shared Node n; init { n = new Node; }
         thread p { m = n; r = m.v; } thread q { k = n; free(k); } observe n;",
    ];
    let mut problems = programs();
    problems.extend(faults.map(problem));
    for name in ["rmo-nospec", "rmo"] {
        let table = |mutated| Table { bypass: model(name).relaxes(), bound: WINDOW, mutated };
        let detects = |mutated| {
            let changed = |problem: &&Problem| reduction_changes_result(problem, table, mutated);
            problems.iter().filter(changed).count()
        };
        assert_eq!(detects(Mutated::NONE), 0, "the reduction changes a result under {name}");
        let used = detects(Mutated::with(Mutation::LoadsUnused));
        assert!(used > 0, "LoadsUnused is not detected under {name}");
        let faulty = detects(Mutated::with(Mutation::UnusedLoadsDoNotFault));
        assert!(faulty >= faults.len(), "{faulty} programs detect faults under {name}");
    }
}
