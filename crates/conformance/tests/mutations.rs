//! Would the tests notice an error in the semantics, or in the partial-order reduction? Each deliberate error
//! must show on programs that the suite runs: as a set of outcomes that differs from the reference's, or as
//! outcomes or violations that differ from those of a search without reductions.

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
use fencepost_testkit::programs::{Profile, program, sections};
use fencepost_testkit::{corpus, problem};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Pending stores, and entries of a window.
const BOUND: u32 = 3;
const WINDOW: u32 = 5;

type Outcomes = BTreeSet<Vec<Value>>;

fn searched<M: MemoryModel>(machine: &Machine<'_, M>) -> Exploration {
    let (cancel, progress) = (&Cancel::default(), &Progress::default());
    let limits = Limits { states: 200_000, ..Limits::default() };
    let threads = NonZeroUsize::MIN;
    explore(machine, Options { limits, cancel, progress, threads, stop_at: None })
}

fn outcomes<M: MemoryModel>(problem: &Problem, model: M) -> Outcomes {
    let found = searched(&Machine::new(problem, model, Reductions::ALL));
    let values = |fact: &Vec<u8>| {
        let (chunks, _) = fact.as_chunks::<4>();
        chunks.iter().map(|four| Value::from_le_bytes(*four)).collect()
    };
    found.facts.iter().map(values).collect()
}

/// Programs of the suite: the litmus tests of the corpus, and random ones.
fn programs() -> Vec<Problem> {
    let litmus = corpus::sources("litmus").into_iter().map(|(_, source)| problem(&source));
    let random = [Profile::Straight, Profile::Loops]
        .into_iter()
        .flat_map(|profile| (0..60).map(move |seed| problem(&program(profile, seed).to_string())));
    litmus.chain(random).collect()
}

/// What a model must show of each program that is small enough.
fn expected(problems: &[Problem], model: Model, bound: u32) -> Vec<(&Problem, Outcomes)> {
    let report = |problem| {
        let report = reference(problem, model, bound as usize, 20_000);
        report.complete.then_some((problem, report.outcomes))
    };
    problems.iter().filter_map(report).collect()
}

/// The model itself shows no difference, and it does with each of these errors.
fn all_are_noticed<M: MemoryModel>(
    problems: &[Problem],
    (name, reference, bound): (&str, Model, u32),
    mutations: &[Mutation],
    model: impl Fn(Mutated) -> M,
) {
    let expected = expected(problems, reference, bound);
    let noticed = |mutated: Mutated| {
        expected.iter().any(|(problem, expected)| outcomes(problem, model(mutated)) != *expected)
    };
    assert!(!noticed(Mutated::NONE), "{name} itself");
    for mutation in mutations {
        assert!(noticed(Mutated::by(*mutation)), "{mutation:?} goes unnoticed under {name}");
    }
}

#[test]
fn every_mutation_of_a_store_buffer_is_noticed() {
    let mutations = [
        Mutation::NoForwarding,
        Mutation::OutOfOrderCommit,
        Mutation::IgnoredFence,
        Mutation::UpdateWithoutDrain,
    ];
    let problems = programs();
    all_are_noticed(&problems, ("tso", Model::Tso, BOUND), &mutations, |mutated| {
        Buffered(Tso { bound: BOUND, mutated })
    });
    all_are_noticed(&problems, ("pso", Model::Pso, BOUND), &mutations, |mutated| {
        Buffered(Pso { bound: BOUND, mutated })
    });
}

#[test]
fn every_mutation_of_a_table_is_noticed() {
    let mutations = [
        Mutation::NoForwarding,
        Mutation::OutOfOrderCommit,
        Mutation::IgnoredFence,
        Mutation::UnknownAddressIgnored,
    ];
    let (rmo, bypass) = (Model::Table(reference::Table::RMO), model("rmo").relaxes());
    all_are_noticed(&programs(), ("rmo", rmo, WINDOW), &mutations, |mutated| Table {
        bypass,
        bound: WINDOW,
        mutated,
    });
}

/// Whether the reduction changes what is found: the outcomes, or whether something goes wrong.
fn reduction_shows(problem: &Problem, mutated: Mutated) -> bool {
    let machine = |reductions| {
        let discipline = Tso { bound: BOUND, mutated: Mutated::NONE };
        Machine::new(problem, Buffered(discipline), reductions)
    };
    let all = searched(&machine(Reductions { partial_order: false, ..Reductions::ALL }));
    let mut reduced = machine(Reductions::ALL);
    reduced.mutated = mutated;
    let reduced = searched(&reduced);
    let same = all.facts == reduced.facts && all.targets.is_empty() == reduced.targets.is_empty();
    // The reduction may be exact where the bound is in the way of the full search.
    !same && !all.bounded
}

#[test]
fn every_mutation_of_the_partial_order_reduction_is_noticed() {
    let mut problems = programs();
    // One thread must not be put off for ever by the other.
    problems.push(problem(
        "shared int x, y; thread p { loop { r = y; } } thread q { x = 1; assert(x == 0); } observe x;",
    ));
    problems.extend((0..40).map(|seed| problem(&sections(seed).to_string())));
    let noticed = |mutated| problems.iter().any(|problem| reduction_shows(problem, mutated));
    assert!(!noticed(Mutated::NONE), "the reduction itself");
    for mutation in [
        Mutation::AccessesCommute,
        Mutation::CommitsCommute,
        Mutation::PostponedForEver,
        Mutation::SectionsUnwatched,
    ] {
        assert!(noticed(Mutated::by(mutation)), "{mutation:?} goes unnoticed");
    }
}
