//! Explores a translation under SC and projects the result to the original.
//!
//! It uses the machine of the engines, because translations have many more states than their
//! originals. It uses only reductions that preserve all memories: dead registers are cleared, and
//! local statements are fused with the previous step. If a fused local statement fails, the
//! previous step is lost, with the steps of other threads in between. So if anything fails,
//! everything is explored again without fusion.

use fencepost_conformance::reference::Report;
use fencepost_conformance::reference::contexts::ContextReport;
use fencepost_ir::{Fault, Label, Problem, Property, Value};
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::system::VIOLATION;
use fencepost_models::state::State;
use fencepost_models::{Machine, MemoryModel, ModelSpec, Reductions, StepFailure, Visitor};
use fencepost_search::{
    Cancel, Coverage, Encoding, Limits, Options, Progress, Sink, TransitionSystem, explore,
};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Mutex;

/// Explores a problem under SC and projects memory to its first `locations` locations. The indices
/// of invariants do not count deadlock freedom.
pub(crate) fn under_sc(problem: &Problem, locations: usize, states: u64) -> ContextReport {
    let sc = ModelSpec::by_name("sc").expect("a built-in model");
    let fused = Reductions { partial_order: false, ..Reductions::ALL };
    let explored = sc.visit(0, Explore { problem, locations, states, reductions: fused });
    let report = &explored.report;
    if report.faults.is_empty() && report.assertion_failures.is_empty() {
        return explored;
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
    type Output = ContextReport;

    fn visit<M: MemoryModel>(self, model: M) -> ContextReport {
        let machine = Machine::new(self.problem, model, self.reductions);
        let failures = Mutex::default();
        let observed = ObservedMachine { machine, locations: self.locations, failures };
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let found = explore(
            &observed,
            Options {
                limits: Limits { states: self.states, ..Limits::default() },
                cancel: &cancel,
                progress: &progress,
                threads: NonZeroUsize::MIN,
                stop_at: None,
            },
        );
        let mut explored = ContextReport::default();
        let report = &mut explored.report;
        for fact in &found.facts {
            let (kind, values) = decode(fact);
            match kind {
                MEMORY => {
                    explored.memories.insert(values);
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
        let failures = observed.failures.into_inner().expect("no search thread has panicked");
        report.faults = failures.faults;
        report.assertion_failures = failures.assertions;
        report.complete = found.coverage == Coverage::Exhaustive;
        report.states = found.states as usize;
        explored
    }
}

// The kinds of facts.
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
    let (values, rest) = fact[1..].as_chunks::<8>();
    assert!(rest.is_empty(), "a fact is a list of values");
    (fact[0], values.iter().map(|bytes| Value::from_le_bytes(*bytes)).collect())
}

#[derive(Default)]
struct Failures {
    faults: BTreeSet<Fault>,
    assertions: BTreeSet<Label>,
}

impl Failures {
    fn record_failure(&mut self, failure: StepFailure) {
        match failure.fault {
            Some(fault) => {
                self.faults.insert(fault);
            }
            None => {
                self.assertions.insert(failure.label.expect("an assertion has a label"));
            }
        }
    }
}

/// A machine that records memory and violations of each state.
struct ObservedMachine<'p, M: MemoryModel> {
    machine: Machine<'p, M>,
    locations: usize,
    failures: Mutex<Failures>,
}

impl<M: MemoryModel> ObservedMachine<'_, M> {
    fn record_failure(&self, failure: StepFailure) {
        self.failures.lock().expect("no search thread has panicked").record_failure(failure);
    }

    fn record_facts<S: Sink>(&self, state: &State<M::Pending>, sink: &mut S) {
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

impl<M: MemoryModel> Encoding for ObservedMachine<'_, M> {}

impl<M: MemoryModel> TransitionSystem for ObservedMachine<'_, M> {
    type Scratch = (<Machine<'static, M> as TransitionSystem>::Scratch, State<M::Pending>);

    fn scratch(&self) -> Self::Scratch {
        (self.machine.scratch(), self.machine.blank())
    }

    fn initial<S: Sink>(&self, (scratch, state): &mut Self::Scratch, sink: &mut S) {
        let mut choices = Choices::default();
        loop {
            if let Err((_, failure)) = self.machine.start(state, &mut choices, &mut ()) {
                self.record_failure(failure);
            }
            if !choices.advance() {
                break;
            }
        }
        self.machine.initial(scratch, sink);
    }

    fn expand<S: Sink>(&self, bytes: &[u8], (scratch, state): &mut Self::Scratch, sink: &mut S) {
        self.machine.unpack(bytes, state);
        self.record_facts(state, sink);
        let mut tagged = Tagged { sink, violated: false };
        self.machine.expand(bytes, scratch, &mut tagged);
        if tagged.violated {
            for attempt in self.machine.attempt_steps(state) {
                if let Err(failure) = attempt.taken {
                    self.record_failure(failure);
                }
            }
        }
    }
}

/// A sink that tags outcomes and records whether there is a violation.
struct Tagged<'s, S> {
    sink: &'s mut S,
    violated: bool,
}

impl<S: Sink> Sink for Tagged<'_, S> {
    fn successor(&mut self, state: &[u8]) {
        self.sink.successor(state);
    }

    fn is_farther(&self, state: &[u8]) -> bool {
        self.sink.is_farther(state)
    }

    fn target(&mut self, class: u32, detail: u32) {
        self.violated |= class == VIOLATION;
        self.sink.target(class, detail);
    }

    fn fact(&mut self, fact: &[u8]) {
        self.sink.fact(&[&[OUTCOME], fact].concat());
    }

    fn bounded(&mut self) {
        self.sink.bounded();
    }
}

/// Returns the parts of a report that can be compared. The indices of properties do not count
/// deadlock freedom.
pub(crate) fn comparable_report(problem: &Problem, report: &Report) -> Report {
    let position = |at: &usize| {
        let before = problem.properties[..*at].iter();
        before
            .filter(|property| !matches!(property, Property::DeadlockFree | Property::Progress))
            .count()
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
