//! Everything that a translation reaches under SC, as far as it is the original's.
//!
//! By the machine, because translations have many more states than their originals, with those reductions
//! that leave out no state of memory: dead registers are cleared, and local statements run with the step
//! before them. A local statement that fails would take that step with it, and what others do in between;
//! so when anything fails, everything is explored once more, one statement at a time.

use fencepost_conformance::reference::Report;
use fencepost_conformance::reference::contexts::Reached;
use fencepost_ir::{Fault, Label, Problem, Property, Value};
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::state::State;
use fencepost_models::{Machine, MemoryModel, ModelSpec, Reductions, Stumble, Visitor};
use fencepost_search::{
    Cancel, Coverage, Limits, Options, Progress, Sink, TransitionSystem, explore,
};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Mutex;

/// What the problem reaches under SC, in its first so many locations. Invariants are counted among the
/// properties of the problem without deadlock freedom.
pub(crate) fn under_sc(problem: &Problem, locations: usize, states: u64) -> Reached {
    let sc = ModelSpec::by_name("sc").expect("a built-in model");
    let fused = Reductions { partial_order: false, ..Reductions::ALL };
    let reached = sc.visit(0, Explore { problem, locations, states, reductions: fused });
    let report = &reached.report;
    if report.faults.is_empty() && report.assertion_failures.is_empty() {
        return reached;
    }
    let single = Reductions { fuse: false, ..fused };
    sc.visit(0, Explore { problem, locations, states, reductions: single })
}

struct Explore<'a> {
    problem: &'a Problem,
    locations: usize,
    states: u64,
    reductions: Reductions,
}

impl Visitor for Explore<'_> {
    type Output = Reached;

    fn visit<M: MemoryModel>(self, model: M) -> Reached {
        let machine = Machine::new(self.problem, model, self.reductions);
        let errors = Mutex::default();
        let watched = Watched { machine, locations: self.locations, errors };
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let found = explore(
            &watched,
            Options {
                limits: Limits { states: self.states, ..Limits::default() },
                cancel: &cancel,
                progress: &progress,
                threads: NonZeroUsize::MIN,
                stop_at: None,
            },
        );
        let mut reached = Reached::default();
        let report = &mut reached.report;
        for fact in &found.facts {
            let (kind, values) = decode(fact);
            match kind {
                MEMORY => {
                    reached.memories.insert(values);
                }
                OUTCOME => {
                    report.outcomes.insert(values);
                }
                INVARIANT => {
                    report.invariant_violations.insert(values[0] as usize);
                }
                _ => report.mutual_exclusion_violated = true,
            }
        }
        let errors = watched.errors.into_inner().expect("no search thread has panicked");
        report.faults = errors.faults;
        report.assertion_failures = errors.labels;
        report.complete = found.coverage == Coverage::Exhaustive;
        report.states = found.states as usize;
        reached
    }
}

/// Kinds of facts.
const MEMORY: u8 = 0;
const OUTCOME: u8 = 1;
const INVARIANT: u8 = 2;
const MUTUAL_EXCLUSION: u8 = 3;

fn encode(kind: u8, values: &[Value]) -> Vec<u8> {
    let mut fact = vec![kind];
    fact.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    fact
}

fn decode(fact: &[u8]) -> (u8, Vec<Value>) {
    let (values, rest) = fact[1..].as_chunks::<4>();
    assert!(rest.is_empty(), "a fact is made of values");
    (fact[0], values.iter().map(|bytes| Value::from_le_bytes(*bytes)).collect())
}

#[derive(Default)]
struct Errors {
    faults: BTreeSet<Fault>,
    labels: BTreeSet<Label>,
}

impl Errors {
    fn note(&mut self, stumble: Stumble) {
        match stumble.fault {
            Some(fault) => {
                self.faults.insert(fault);
            }
            None => {
                self.labels.insert(stumble.label.expect("an assertion has a label"));
            }
        }
    }
}

/// A machine that tells what is in each of its states.
struct Watched<'p, M: MemoryModel> {
    machine: Machine<'p, M>,
    locations: usize,
    errors: Mutex<Errors>,
}

impl<M: MemoryModel> Watched<'_, M> {
    fn note(&self, stumble: Stumble) {
        self.errors.lock().expect("no search thread has panicked").note(stumble);
    }

    fn tell<S: Sink>(&self, state: &State<M::Pending>, sink: &mut S) {
        let machine = &self.machine;
        sink.fact(&encode(MEMORY, &state.memory.values[..self.locations]));
        let threads = machine.shape.program().thread_ids();
        if threads.filter(|t| machine.is_critical(state, *t)).count() >= 2 {
            sink.fact(&encode(MUTUAL_EXCLUSION, &[]));
        }
        for (at, property) in machine.shape.problem.properties.iter().enumerate() {
            if let Property::Invariant(condition) = property
                && !machine.holds(state, condition)
            {
                sink.fact(&encode(INVARIANT, &[at as Value]));
            }
        }
    }
}

impl<M: MemoryModel> TransitionSystem for Watched<'_, M> {
    type Scratch = (<Machine<'static, M> as TransitionSystem>::Scratch, State<M::Pending>);

    fn scratch(&self) -> Self::Scratch {
        (self.machine.scratch(), self.machine.blank())
    }

    fn initial<S: Sink>(&self, (scratch, state): &mut Self::Scratch, sink: &mut S) {
        let mut choices = Choices::default();
        loop {
            if let Err((_, stumble)) = self.machine.start(state, &mut choices, &mut ()) {
                self.note(stumble);
            }
            if !choices.advance() {
                break;
            }
        }
        self.machine.initial(scratch, sink);
    }

    fn expand<S: Sink>(&self, bytes: &[u8], (scratch, state): &mut Self::Scratch, sink: &mut S) {
        self.machine.unpack(bytes, state);
        self.tell(state, sink);
        let mut tagged = Tagged { sink, wrong: false };
        self.machine.expand(bytes, scratch, &mut tagged);
        if tagged.wrong {
            for attempt in self.machine.steps(state) {
                if let Err(stumble) = attempt.taken {
                    self.note(stumble);
                }
            }
        }
    }
}

/// Marks outcomes as such, and notes whether anything is wrong.
struct Tagged<'s, S> {
    sink: &'s mut S,
    wrong: bool,
}

impl<S: Sink> Sink for Tagged<'_, S> {
    fn successor(&mut self, state: &[u8]) {
        self.sink.successor(state);
    }

    fn is_farther(&self, state: &[u8]) -> bool {
        self.sink.is_farther(state)
    }

    fn target(&mut self, class: u32, detail: u32) {
        self.wrong |= class == VIOLATION;
        self.sink.target(class, detail);
    }

    fn fact(&mut self, fact: &[u8]) {
        self.sink.fact(&[&[OUTCOME], fact].concat());
    }

    fn bounded(&mut self) {
        self.sink.bounded();
    }
}

/// A report of which only the parts are left that both sides tell, properties counted without deadlock
/// freedom.
pub(crate) fn told(problem: &Problem, report: &Report) -> Report {
    let position = |at: &usize| {
        let before = problem.properties[..*at].iter();
        before.filter(|property| **property != Property::DeadlockFree).count()
    };
    Report {
        outcomes: report.outcomes.clone(),
        faults: report.faults.clone(),
        assertion_failures: report.assertion_failures.clone(),
        mutual_exclusion_violated: report.mutual_exclusion_violated,
        invariant_violations: report.invariant_violations.iter().map(position).collect(),
        ..Report::default()
    }
}
