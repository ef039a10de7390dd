//! Would the tests notice an error in the semantics? Each deliberate error must show on programs that
//! the suite runs: as a set of outcomes that differs from the reference's.

mod common;

use common::{corpus, lower};
use fencepost_conformance::random::{Profile, program};
use fencepost_conformance::reference::{Model, explore as reference};
use fencepost_ir::{Problem, Value};
use fencepost_models::buffered::{Buffered, Discipline};
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::pso::Pso;
use fencepost_models::tso::Tso;
use fencepost_models::{Machine, Reductions};
use fencepost_search::{Cancel, Limits, Options, Progress, explore};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

const BOUND: u32 = 3;

fn outcomes<D: Discipline>(problem: &Problem, discipline: D) -> BTreeSet<Vec<Value>> {
    let machine = Machine::new(problem, Buffered(discipline), Reductions::ALL);
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let limits = Limits { states: 200_000, ..Limits::default() };
    let (cancel, progress) = (&cancel, &progress);
    let threads = NonZeroUsize::MIN;
    let found = explore(&machine, Options { limits, cancel, progress, threads, stop_at: None });
    (found.facts.iter())
        .map(|fact| {
            let (chunks, _) = fact.as_chunks::<4>();
            chunks.iter().map(|four| Value::from_le_bytes(*four)).collect()
        })
        .collect()
}

/// Programs of the suite: the litmus tests of the corpus, and random ones.
fn programs() -> Vec<String> {
    let folder = std::fs::read_dir(corpus().join("litmus")).expect("the corpus is there");
    let litmus = folder.filter_map(|entry| {
        let path = entry.ok()?.path();
        (path.extension()? == "fp").then(|| std::fs::read_to_string(path).ok())?
    });
    let random = [Profile::Straight, Profile::Loops]
        .into_iter()
        .flat_map(|profile| (0..60).map(move |seed| program(profile, seed).to_string()));
    litmus.chain(random).collect()
}

/// How many of the suite's programs show a difference with this mutation, under TSO and PSO.
fn noticed(mutated: Mutated) -> (usize, usize) {
    let (mut tso, mut pso) = (0, 0);
    for source in programs() {
        let problems = lower(&source).expect("the suite's programs compile");
        let problem = &problems[0];
        let differs = |ours: BTreeSet<Vec<Value>>, model| {
            let report = reference(problem, model, BOUND as usize, 20_000);
            report.complete && report.outcomes != ours
        };
        let discipline = Tso { bound: BOUND, mutated };
        tso += usize::from(differs(outcomes(problem, discipline), Model::Tso));
        let discipline = Pso { bound: BOUND, mutated };
        pso += usize::from(differs(outcomes(problem, discipline), Model::Pso));
    }
    (tso, pso)
}

#[test]
fn the_semantics_itself_shows_no_difference() {
    assert_eq!(noticed(Mutated::default()), (0, 0));
}

#[test]
fn every_mutation_is_noticed() {
    for mutation in [
        Mutation::NoForwarding,
        Mutation::OutOfOrderCommit,
        Mutation::IgnoredFence,
        Mutation::UpdateWithoutDrain,
    ] {
        let (tso, pso) = noticed(Mutated::by(mutation));
        println!("{mutation:?}: {tso} programs differ under TSO, {pso} under PSO");
        assert!(
            tso > 0 && pso > 0,
            "{mutation:?} goes unnoticed: {tso} under TSO, {pso} under PSO"
        );
    }
}
