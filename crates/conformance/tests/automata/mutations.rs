//! Would any check notice an error in a rule of symbolic buffers? Each deliberate error must show on these programs,
//! under TSO and under PSO.
//!
//! The search here is the naive one: every step from every state, and no sleep sets, no inclusion, no cycles. It
//! ends on programs without loops that store, and what it finds there must be what the reference finds.

use super::ask::{Outcomes, missing, within};
use crate::common::{caught, lower};
use fencepost_conformance::reference::{Model, explore};
use fencepost_engines::automata::reached::ControlPoint;
use fencepost_engines::automata::{Order, Until};
use fencepost_engines::{Automata, Budget, Task};
use fencepost_ir::{Problem, StoreBuffers};
use fencepost_models::buffered::Buffered;
use fencepost_models::machine::choice::Choices;
use fencepost_models::mutation::{Mutated, Mutation};
use fencepost_models::symbolic::Symbolic;
use fencepost_models::{Machine, Reductions, Taken};
use fencepost_search::{Cancel, Progress};
use fencepost_testkit::programs::{Profile, program};
use std::collections::HashSet;

/// Programs for rules that random ones seldom meet.
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
/// Random programs of each of two profiles.
const RANDOM: u64 = 20;
/// States of either search; beyond that nothing is compared.
const STATES: usize = 4_000;
/// The models: how stores are grouped, and the reference's.
const MODELS: [(StoreBuffers, Model); 2] =
    [(StoreBuffers::Tso, Model::Tso), (StoreBuffers::Pso, Model::Pso)];

/// Every outcome of the symbolic model, unless there are too many states.
fn naive(problem: &Problem, grouping: StoreBuffers, mutated: Mutated) -> Option<Outcomes> {
    let symbolic = Buffered(Symbolic::new(grouping, mutated));
    let machine = Machine::new(problem, symbolic, Reductions::ALL);
    let mut outcomes = Outcomes::new();
    let (mut seen, mut todo) = (HashSet::new(), Vec::new());
    let nothing = machine.blank().pending;
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
        if seen.len() > STATES {
            return None;
        }
        let next = machine.steps(&state).into_iter();
        todo.extend(next.filter(|step| step.taken == Ok(Taken::Yes)).map(|step| step.after));
        let languages = machine.model.0.languages();
        let rests = state.pending.iter().all(|l| languages.contains_empty(*l));
        drop(languages);
        state.pending.clone_from(&nothing);
        if rests && machine.is_final(&state) {
            let observed = problem.observed.iter();
            outcomes.insert(observed.map(|what| machine.observe(&state, *what)).collect());
        }
    }
    Some(outcomes)
}

/// The programs with their outcomes under TSO and PSO, where the reference knows them all.
fn suite() -> Vec<(Problem, [Option<Outcomes>; 2])> {
    let random = (0..RANDOM).flat_map(|seed| {
        [Profile::Straight, Profile::Buffers].map(|profile| program(profile, seed).to_string())
    });
    let sources = PROGRAMS.into_iter().map(String::from).chain(random);
    let exact = |source: String| {
        let problem = lower(&source).expect("the programs compile").swap_remove(0);
        let outcomes = MODELS.map(|(_, model)| {
            let report = explore(&problem, model, 8, STATES);
            (report.complete && !report.bound_hit).then_some(report.outcomes)
        });
        (problem, outcomes)
    };
    sources.map(exact).collect()
}

/// What was noticed under one model.
#[derive(Debug, Default, PartialEq, Eq)]
struct Noticed {
    compared: usize,
    missing: usize,
    added: usize,
    broken: usize,
}

fn noticed(suite: &[(Problem, [Option<Outcomes>; 2])], mutated: Mutated) -> [Noticed; 2] {
    [0, 1].map(|at| {
        let mut all = Noticed::default();
        for (problem, exact) in suite {
            let Some(exact) = &exact[at] else { continue };
            match caught(|| Ok(naive(problem, MODELS[at].0, mutated))) {
                Ok(Some(found)) => {
                    all.compared += 1;
                    all.missing += usize::from(missing(exact, &found).is_some());
                    all.added += usize::from(missing(&found, exact).is_some());
                }
                Ok(None) => {}
                Err(_) => all.broken += 1,
            }
        }
        all
    })
}

#[test]
fn the_rules_themselves_show_no_difference() {
    let suite = suite();
    for noticed in noticed(&suite, Mutated::default()) {
        println!("{noticed:?} of {}", suite.len());
        assert_eq!((noticed.missing, noticed.added, noticed.broken), (0, 0, 0));
        assert!(noticed.compared * 2 > suite.len(), "most can be compared: {noticed:?}");
    }
}

#[test]
fn every_mutation_is_noticed() {
    let suite = suite();
    for mutation in [Mutation::NoForwarding, Mutation::IgnoredFence, Mutation::UpdateWithoutDrain] {
        for (noticed, (grouping, _)) in noticed(&suite, Mutated::by(mutation)).iter().zip(MODELS) {
            println!("{mutation:?} {grouping:?}: {noticed:?}");
            let least = match mutation {
                Mutation::NoForwarding => noticed.missing,
                _ => noticed.added,
            };
            assert!(least > 0, "{mutation:?} {grouping:?}: {noticed:?}");
        }
    }
}

/// A program in which an error of the search shows in what buffers can hold, or in whether the search ends.
struct Shows {
    mutation: Mutation,
    model: &'static str,
    order: Order,
    program: &'static str,
}

const SEARCH: [Shows; 2] = [
    Shows {
        mutation: Mutation::CyclesUntried,
        model: "tso",
        order: Order::Statements,
        program: "shared int x; thread t { while (x == 0) { x = 1; } }",
    },
    Shows {
        mutation: Mutation::CyclesUnwatched,
        model: "pso",
        order: Order::Statements,
        program: "shared int x, y;
            thread t { while (choose(0..2) == 1) { y = 1; x = 1; drain y; } }",
    },
];

/// By thread and program counter: what buffers can hold there.
fn reached(shows: &Shows, mutated: Mutated) -> Vec<(u32, u32, String)> {
    let problem = lower(shows.program).expect("the programs compile").swap_remove(0);
    let model = crate::common::model(shows.model);
    let engine = Automata { order: Some(shows.order), mutated, ..Automata::USUAL };
    let task = Task { problem: &problem, model: &model };
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let looked = engine.look(task, within(2_000), budget, Until::Noted).expect("has buffers");
    let told = |point: ControlPoint| (point.thread.0.into(), point.pc.0, point.contents);
    looked.reached.into_iter().map(told).collect()
}

#[test]
fn every_error_of_the_search_is_noticed() {
    for shows in &SEARCH {
        let right = reached(shows, Mutated::NONE);
        assert_ne!(right, reached(shows, Mutated::by(shows.mutation)), "{:?}", shows.mutation);
    }
}
