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

type Outcomes = BTreeSet<Vec<Value>>;

fn search<M: MemoryModel>(machine: &Machine<'_, M>) -> Exploration {
    let (cancel, progress) = (&Cancel::default(), &Progress::default());
    let limits = Limits { states: 200_000, ..Limits::default() };
    let threads = NonZeroUsize::MIN;
    explore(machine, Options { limits, cancel, progress, threads, stop_at: None })
}

fn outcomes<M: MemoryModel>(problem: &Problem, model: M) -> Outcomes {
    let found = search(&Machine::new(problem, model, Reductions::ALL));
    let values = |fact: &Vec<u8>| {
        let (chunks, _) = fact.as_chunks::<4>();
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
    mutations: &[Mutation],
    model: impl Fn(Mutated) -> M,
) {
    let expected = expected(problems, reference, bound);
    let is_detected = |mutated: Mutated| {
        expected.iter().any(|(problem, expected)| outcomes(problem, model(mutated)) != *expected)
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
    check_all_detected(&problems, ("tso", Model::Tso, BOUND), &mutations, |mutated| {
        Buffered(Tso { bound: BOUND, mutated })
    });
    check_all_detected(&problems, ("pso", Model::Pso, BOUND), &mutations, |mutated| {
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
    let (rmo, bypass) = (Model::Table(reference::Table::RMO), model("rmo").relaxes());
    check_all_detected(&programs(), ("rmo", rmo, WINDOW), &mutations, |mutated| Table {
        bypass,
        bound: WINDOW,
        mutated,
    });
}

/// Returns whether the reduction changes the outcomes or whether there is a violation.
fn reduction_changes_result(problem: &Problem, mutated: Mutated) -> bool {
    let machine = |reductions| {
        let discipline = Tso { bound: BOUND, mutated: Mutated::NONE };
        Machine::new(problem, Buffered(discipline), reductions)
    };
    let all = search(&machine(Reductions { partial_order: false, ..Reductions::ALL }));
    let mut reduced = machine(Reductions::ALL);
    reduced.mutated = mutated;
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
    problems.extend((0..40).map(|seed| problem(&critical_sections(seed).to_string())));
    let is_detected =
        |mutated| problems.iter().any(|problem| reduction_changes_result(problem, mutated));
    assert!(!is_detected(Mutated::NONE), "the reduction without a mutation changes a result");
    for mutation in [
        Mutation::AccessesCommute,
        Mutation::CommitsCommute,
        Mutation::NoCycleProviso,
        Mutation::CriticalSectionsInvisible,
    ] {
        assert!(is_detected(Mutated::with(mutation)), "{mutation:?} is not detected");
    }
}
