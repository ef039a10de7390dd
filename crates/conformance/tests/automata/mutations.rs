//! Mutation tests of the rules of symbolic buffers. Each mutation must be detected on these
//! programs, under TSO and under PSO.
//!
//! The search here is naive: it takes every step from every state, without sleep sets, inclusion or
//! cycles. It terminates on programs without loops that store. Its outcomes must be those of the
//! reference interpreter.

use super::queries::{Outcomes, limited_to, missing};
use crate::common::{catch_panic, lower};
use fencepost_conformance::reference::{Model, explore};
use fencepost_engines::automata::reached::ControlPoint;
use fencepost_engines::automata::{Order, SearchExtent};
use fencepost_engines::{Automata, Budget, Task};
use fencepost_ir::{Problem, StoreBuffers};
use fencepost_models::buffered::Buffered;
use fencepost_models::machine::choice::Choices;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::symbolic::Symbolic;
use fencepost_models::{Machine, Reductions, StepResult};
use fencepost_search::{Cancel, Progress};
use fencepost_testkit::programs::{Profile, program};
use std::collections::HashSet;

/// Programs for rules that random programs seldom exercise.
const PROGRAMS: [&str; 6] = [
    "shared int x, y; thread p { x = 1; r = x; s = y; } thread q { y = 1; r = y; s = x; }
     observe p.r, p.s, q.r, q.s;",
    "shared int x, y; thread p { x = 1; fence; r = y; } thread q { y = 1; fence; r = x; }
     observe p.r, q.r;",
    "shared int x, y; thread p { x = 1; fence store_load; r = y; }
     thread q { y = 1; fence store_load; r = x; } observe p.r, q.r;",
    "shared int x, y; thread p { x = 1; fence store_store; y = 1; fence store_store; x = 2; }
     thread q { r = y; s = x; } observe q.r, q.s, x;",
    "shared int x, y; thread p { x = 1; r = swap(x, 2); s = fetch_add(x, 1); y = 1; }
     thread q { r = y; s = x; } observe p.r, p.s, q.r, q.s, x;",
    "shared int x, y; thread p { x = 1; y = 2; r = swap(y, 1); s = x; }
     thread q { y = 1; drain y; s = x; } observe p.r, p.s, q.s, y;",
];
/// The number of random programs of each of two profiles.
const RANDOM_PROGRAMS: u64 = 20;
/// The maximum number of states of either search. Larger programs are skipped.
const MAX_STATES: usize = 4_000;
/// The models: the store buffers, and the model of the reference interpreter.
const MODELS: [(StoreBuffers, Model); 2] =
    [(StoreBuffers::Tso, Model::Tso), (StoreBuffers::Pso, Model::Pso)];

/// Returns every outcome of the symbolic model, or `None` if there are too many states.
fn naive_outcomes(problem: &Problem, grouping: StoreBuffers, mutated: Mutated) -> Option<Outcomes> {
    let symbolic = Buffered(Symbolic::new(grouping, mutated));
    let machine = Machine::new(problem, symbolic, Reductions::ALL);
    let mut outcomes = Outcomes::new();
    let (mut seen, mut todo) = (HashSet::new(), Vec::new());
    let no_pending = machine.blank().pending;
    let mut choices = Choices::default();
    loop {
        let mut state = machine.blank();
        if let Ok(true) = machine.start(&mut state, &mut choices, &mut ()) {
            todo.push(state);
        }
        if !choices.advance() {
            break;
        }
    }
    while let Some(mut state) = todo.pop() {
        let pending: Vec<u32> = state.pending.iter().map(|l| l.number()).collect();
        let memory = (state.memory.values.clone(), state.memory.allocated.clone());
        if !seen.insert((state.pcs.clone(), state.registers.clone(), memory, pending)) {
            continue;
        }
        if seen.len() > MAX_STATES {
            return None;
        }
        let next = machine.attempt_steps(&state).into_iter();
        todo.extend(next.filter(|step| step.taken == Ok(StepResult::Taken)).map(|step| step.after));
        let languages = machine.model.0.languages();
        let may_be_empty = state.pending.iter().all(|l| languages.contains_empty_word(*l));
        drop(languages);
        state.pending.clone_from(&no_pending);
        if may_be_empty && machine.is_final(&state) {
            let observed = problem.observed.iter();
            outcomes.insert(observed.map(|what| machine.observe(&state, *what)).collect());
        }
    }
    Some(outcomes)
}

/// Returns the programs with their outcomes under TSO and PSO by the reference interpreter. `None`
/// if they are not complete.
fn suite() -> Vec<(Problem, [Option<Outcomes>; 2])> {
    let random = (0..RANDOM_PROGRAMS).flat_map(|seed| {
        [Profile::Straight, Profile::Buffers].map(|profile| program(profile, seed).to_string())
    });
    let sources = PROGRAMS.into_iter().map(String::from).chain(random);
    let exact = |source: String| {
        let problem = lower(&source).expect("the programs compile").swap_remove(0);
        let outcomes = MODELS.map(|(_, model)| {
            let report = explore(&problem, model, 8, MAX_STATES);
            (report.complete && !report.bound_hit).then_some(report.outcomes)
        });
        (problem, outcomes)
    };
    sources.map(exact).collect()
}

/// The differences found under one model.
#[derive(Debug, Default, PartialEq, Eq)]
struct Differences {
    compared: usize,
    missing: usize,
    added: usize,
    panicked: usize,
}

fn differences(suite: &[(Problem, [Option<Outcomes>; 2])], mutated: Mutated) -> [Differences; 2] {
    [0, 1].map(|at| {
        let mut all = Differences::default();
        for (problem, exact) in suite {
            let Some(exact) = &exact[at] else { continue };
            match catch_panic(|| Ok(naive_outcomes(problem, MODELS[at].0, mutated))) {
                Ok(Some(found)) => {
                    all.compared += 1;
                    all.missing += usize::from(missing(exact, &found).is_some());
                    all.added += usize::from(missing(&found, exact).is_some());
                }
                Ok(None) => {}
                Err(_) => all.panicked += 1,
            }
        }
        all
    })
}

#[test]
fn the_unmutated_rules_have_the_outcomes_of_the_reference() {
    let suite = suite();
    for differences in differences(&suite, Mutated::default()) {
        println!("{differences:?} of {}", suite.len());
        assert_eq!((differences.missing, differences.added, differences.panicked), (0, 0, 0));
        assert!(
            differences.compared * 2 > suite.len(),
            "most programs can be compared: {differences:?}"
        );
    }
}

#[test]
fn every_mutation_is_detected() {
    let suite = suite();
    for mutation in [Mutation::NoForwarding, Mutation::IgnoredFence, Mutation::UpdateWithoutDrain] {
        for (differences, (grouping, _)) in
            differences(&suite, Mutated::with(mutation)).iter().zip(MODELS)
        {
            println!("{mutation:?} {grouping:?}: {differences:?}");
            let detected = match mutation {
                Mutation::NoForwarding => differences.missing,
                _ => differences.added,
            };
            assert!(detected > 0, "{mutation:?} {grouping:?}: {differences:?}");
        }
    }
}

/// A mutation of the search, and a program on which it changes the contents of buffers or the
/// termination of the search.
struct SearchMutation {
    mutation: Mutation,
    model: &'static str,
    order: Order,
    program: &'static str,
}

const SEARCH_MUTATIONS: [SearchMutation; 2] = [
    SearchMutation {
        mutation: Mutation::CyclesNotValidated,
        model: "tso",
        order: Order::Statements,
        program: "shared int x; thread t { while (x == 0) { x = 1; } }",
    },
    SearchMutation {
        mutation: Mutation::CycleEffectsUnchecked,
        model: "pso",
        order: Order::Statements,
        program: "shared int x, y;
            thread t { while (choose(0..2) == 1) { y = 1; x = 1; drain y; } }",
    },
];

/// Returns the possible contents of the buffers, by thread and program counter.
fn control_points(case: &SearchMutation, mutated: Mutated) -> Vec<(u32, u32, String)> {
    let problem = lower(case.program).expect("the programs compile").swap_remove(0);
    let model = crate::common::model(case.model);
    // With silent commits, the contents of the second program are found one by one.
    let order = Some(case.order);
    let engine = Automata { order, silent: false, mutated, ..Automata::DEFAULT };
    let task = Task { problem: &problem, model: &model };
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let answer = engine
        .search(task, limited_to(2_000), budget, SearchExtent::AllWithContents)
        .expect("the model has store buffers");
    let entry = |point: ControlPoint| (point.thread.0.into(), point.pc.0, point.contents);
    answer.reached.into_iter().map(entry).collect()
}

#[test]
fn every_mutation_of_the_search_is_detected() {
    for case in &SEARCH_MUTATIONS {
        let right = control_points(case, Mutated::NONE);
        assert_ne!(
            right,
            control_points(case, Mutated::with(case.mutation)),
            "{:?}",
            case.mutation
        );
    }
}
