//! A search of an abstract model with tabulated steps, collapsed states and a remembered order finds
//! exactly what a search finds that executes every step and compares unpacked states: the same states
//! in the same order, members, targets, facts and counts.

use super::requirements::{DOMAINS, MODELS};
use crate::common::{lower, report_comparisons, seeds};
use fencepost_ir::Problem;
use fencepost_models::buffered::Buffered;
use fencepost_models::coherence::{Coherence, Domain};
use fencepost_models::machine::collapsed::Collapsed;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::{Machine, Reductions};
use fencepost_search::{
    Antichain, Cancel, Exploration, Limits, Options, Ordered, Progress, Target, explore_ordered,
};
use fencepost_testkit::corpus;
use fencepost_testkit::programs::{Profile, program};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// The approximate number of states after which a search stops.
const MAX_STATES: u64 = 2_000;
/// The number of random programs of each profile.
const PROGRAMS: u64 = 12;

/// What a search finds, with packed states.
#[derive(PartialEq, Eq, Debug)]
struct Found {
    /// States, stored states, transitions and depth.
    counts: [u64; 4],
    coverage: String,
    targets: Vec<Target>,
    facts: BTreeSet<Vec<u8>>,
    members: Vec<Vec<u8>>,
    stored: Vec<Vec<u8>>,
    paths: Vec<Vec<Vec<u8>>>,
}

fn search<T: Ordered>(
    system: &T,
    packed: impl Fn(&[u8]) -> Vec<u8>,
    states: u64,
    threads: usize,
) -> Found {
    let (cancel, progress) = (&Cancel::default(), &Progress::default());
    let limits = Limits { states, ..Limits::default() };
    let threads = NonZeroUsize::new(threads).expect("at least one thread");
    let options = Options { limits, cancel, progress, threads, stop_at: None };
    let found: Exploration<Antichain> = explore_ordered(system, options);
    let path = |target: &Target| found.path(target.state).into_iter().map(&packed).collect();
    Found {
        counts: [found.states, found.stored, found.transitions, found.depth.into()],
        coverage: format!("{:?} {}", found.coverage, found.bounded),
        members: found.members().map(&packed).collect(),
        stored: found.latest(usize::MAX).map(&packed).collect(),
        paths: found.targets.iter().filter(|t| t.detail < u32::MAX - 1).map(path).collect(),
        targets: found.targets,
        facts: found.facts,
    }
}

/// Compares the searches of one abstract model. Returns the number of states.
fn compare(name: &str, problem: &Problem, coherence: Coherence, reductions: Reductions) -> u64 {
    let mut machine = Machine::new(problem, Buffered(coherence), reductions);
    machine.tabulates = false;
    let executed = search(&machine, <[u8]>::to_vec, MAX_STATES, 1);
    let system = Collapsed::ordered(&machine);
    let same = |found: Found, how| assert!(found == executed, "{name} {coherence:?} {how}");
    same(search(&system, |s| system.unfold(s), MAX_STATES, 1), "without table");
    machine.tabulates = true;
    same(search(&machine, <[u8]>::to_vec, MAX_STATES, 1), "packed");
    let system = Collapsed::ordered(&machine);
    same(search(&system, |s| system.unfold(s), MAX_STATES, 1), "collapsed");
    executed.counts[0]
}

/// Calls `visit` with each abstract model.
fn for_each_model(labels: &[bool], mut visit: impl FnMut(Coherence)) {
    for (_, grouping, _) in MODELS {
        for (domain, k) in DOMAINS {
            for labelled in labels.iter().copied() {
                let mutated = Mutated::NONE;
                visit(Coherence { grouping, domain, k, labelled, mutated });
            }
        }
    }
}

#[test]
fn tabulated_abstract_searches_of_the_corpus_agree_with_executed_ones_campaign() {
    let mut states = 0;
    for (folder, step) in
        [("mutex", 9), ("orders", 9), ("regress", 9), ("structures", 4), ("waiting", 9)]
    {
        for (name, source) in corpus::sample(folder, step) {
            for problem in &lower(&source).expect("the program compiles") {
                for_each_model(&[false], |model| {
                    states += compare(&name, problem, model, Reductions::ALL);
                });
            }
        }
    }
    report_comparisons("tabulated abstract steps", states);
}

#[test]
fn tabulated_abstract_searches_of_random_programs_agree_with_executed_ones() {
    let mut states = 0;
    for profile in [Profile::Buffers, Profile::Straight, Profile::Loops] {
        for seed in seeds(PROGRAMS) {
            let source = program(profile, seed).to_string();
            for problem in &lower(&source).expect("the program compiles") {
                for_each_model(&[false, true], |model| {
                    for reductions in [Reductions::ALL, Reductions::NONE] {
                        states += compare(&source, problem, model, reductions);
                    }
                });
            }
        }
    }
    report_comparisons("tabulated abstract steps of random programs", states);
}

/// A program whose threads have many different buffers.
const MANY_BUFFERS: &str = "
    shared int x, y, z;
    thread p { loop { x = choose(0..=3); y = choose(0..=3); r = z; } }
    thread q { loop { y = choose(0..=3); z = choose(0..=3); r = x; } }";

fn many_buffers(domain: Domain) -> (Problem, Coherence) {
    let problem = lower(MANY_BUFFERS).expect("the program compiles").swap_remove(0);
    let (grouping, mutated) = (MODELS[1].1, Mutated::NONE);
    (problem, Coherence { grouping, domain, k: 1, labelled: false, mutated })
}

#[test]
fn any_number_of_threads_finds_the_same_states_in_the_same_order() {
    for domain in Domain::ALL {
        let (problem, coherence) = many_buffers(domain);
        let coherence = Coherence { k: u32::from(domain != Domain::Set), ..coherence };
        let mut machine = Machine::new(&problem, Buffered(coherence), Reductions::ALL);
        let of_threads = |machine: &Machine<'_, Buffered<Coherence>>, threads| {
            let system = Collapsed::ordered(machine);
            search(&system, |state| system.unfold(state), 40_000, threads)
        };
        let one = of_threads(&machine, 1);
        assert!(one.counts[0] > 3_000, "{domain:?}: {:?}", one.counts);
        for threads in [2, 3] {
            assert!(of_threads(&machine, threads) == one, "{domain:?} {threads} threads");
        }
        machine.tabulates = false;
        assert!(of_threads(&machine, 2) == one, "{domain:?} executed");
    }
}

#[test]
fn wrong_tables_and_relations_are_detected() {
    let mutations =
        [Mutation::RelationsSwapped, Mutation::JoinsForgotten, Mutation::LoadsIgnoreMemory];
    let corpus = corpus::sources("mutex").into_iter().map(|(_, source)| source);
    let sources: Vec<String> = [MANY_BUFFERS.to_owned()].into_iter().chain(corpus).collect();
    let problem = |source: &String| lower(source).expect("the program compiles").swap_remove(0);
    let problems: Vec<Problem> = sources.iter().map(problem).collect();
    for mutation in mutations {
        let is_detected = |problem: &Problem, domain| {
            let (grouping, mutated) = (MODELS[1].1, Mutated::NONE);
            let coherence = Coherence { grouping, domain, k: 1, labelled: false, mutated };
            let mut machine = Machine::new(problem, Buffered(coherence), Reductions::ALL);
            let found = |machine: &Machine<'_, Buffered<Coherence>>| {
                let system = Collapsed::ordered(machine);
                search(&system, |state| system.unfold(state), MAX_STATES, 1)
            };
            let expected = found(&machine);
            machine.mutated = Mutated::with(mutation);
            found(&machine) != expected
        };
        for domain in [Domain::Full, Domain::Partial] {
            // The domain `fd` has no joins.
            let exists = domain == Domain::Partial || mutation != Mutation::JoinsForgotten;
            let detected = problems.iter().any(|problem| is_detected(problem, domain));
            assert_eq!(detected, exists, "{domain:?} {mutation:?}");
        }
    }
}
