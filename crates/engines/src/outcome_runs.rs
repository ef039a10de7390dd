//! What a search for outcomes learns about runs that have no outcome.
//!
//! A run may end in a fault or a failed assertion, it may reach a state in which no thread can make
//! a step, or it may reach a hang or another state that it cannot leave. [`Watched`] detects these
//! cases during the search. Direction: exact for each state that is reported; under-approximation of
//! the runs that never end, because cycles of stores are not detected.

use crate::path::System;
use crate::verdict::{Bound, InconclusiveReason};
use fencepost_ir::{Pc, ThreadId, Violation};
use fencepost_models::MemoryModel;
use fencepost_models::machine::system::{INIT_DETAIL, STATE_DETAIL, VIOLATION};
use fencepost_models::replay::replay;
use fencepost_models::state::State;
use fencepost_search::{Coverage, Encoding, Exploration, Sink, TransitionSystem};

/// The class of steps that end a run in a failure of an unknown statement, or in `init`. The class
/// of failures of the statement with label n is `FAILURE + 1 + n`.
const FAILURE: u32 = 1 << 31;
/// The class of states that are not final and have no step.
const BLOCKED: u32 = u32::MAX;
/// The class of states that are not final and whose steps all lead back to the same state.
const WAITING: u32 = u32::MAX - 1;

/// What a search for outcomes learned about runs.
#[derive(Clone, Debug, Default)]
pub struct OutcomeRuns {
    /// Why outcomes may be missing. None if no outcome is missing.
    pub incomplete: Option<InconclusiveReason>,
    /// The largest bound on pending accesses for which all runs were explored.
    pub complete_up_to: Option<u32>,
    /// Whether there is a run.
    pub exist: bool,
    /// The faults and failed assertions that end some runs, at most one for each statement, those
    /// of the shortest runs first.
    pub failures: Vec<Violation>,
    /// The unfinished threads of a state in which no thread can make a step.
    pub blocked: Vec<UnfinishedThread>,
    /// The unfinished threads of a state whose only steps lead back to it.
    pub waiting: Vec<UnfinishedThread>,
}

/// A thread that has not finished in a state that a run never leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnfinishedThread {
    /// The thread.
    pub thread: ThreadId,
    /// The next statement of the thread.
    pub pc: Pc,
}

impl OutcomeRuns {
    /// Reads the runs without an outcome from a search of a [`Watched`] system.
    pub(crate) fn of<S: System>(system: &S, found: &Exploration) -> Self {
        let machine = system.machine();
        let failing = found.targets.iter().filter(|target| is_failure(target.class));
        let failures = failing.filter_map(|target| {
            let run = replay(machine, &system.trace(found, *target)?);
            run.expect("the machine must replay a path of the search").violation
        });
        // An initial state may also violate a property of states. That does not end the run.
        let ends_run = |violation: &Violation| match violation {
            Violation::Fault(..) | Violation::Assertion(..) => true,
            Violation::MutualExclusion(..)
            | Violation::Hang
            | Violation::Livelock { .. }
            | Violation::Invariant(_)
            | Violation::Final(_)
            | Violation::Operations(_)
            | Violation::NoWitness(_)
            | Violation::NotRobust
            | Violation::DataRace(_) => false,
        };
        let failures: Vec<Violation> = failures.filter(ends_run).collect();
        let unfinished = |class| {
            let Some(target) = found.target(class) else { return Vec::new() };
            let path = found.path(target.state);
            let mut state = machine.blank();
            let last = path.last().expect("a path contains its target");
            machine.unpack(&system.packed(last), &mut state);
            let threads = machine.shape.program().thread_ids();
            let threads = threads.map(|thread| (thread, state.pcs[thread.index()]));
            let threads = threads.filter(|(thread, pc)| !machine.has_halted(*thread, *pc));
            threads.map(|(thread, pc)| UnfinishedThread { thread, pc }).collect()
        };
        OutcomeRuns {
            exist: found.states > 0 || !failures.is_empty(),
            failures,
            blocked: unfinished(BLOCKED),
            waiting: unfinished(WAITING),
            incomplete: match found.coverage {
                Coverage::Exhaustive => None,
                Coverage::Cut(stop) => Some(InconclusiveReason::Limit(stop)),
                Coverage::Bounded | Coverage::Found => Some(InconclusiveReason::Bound {
                    bound: Bound::Buffers,
                    witness_missing: false,
                }),
            },
            complete_up_to: None,
        }
    }

    /// Adds what earlier searches with smaller bounds found. A run within a bound is also a run
    /// within a larger bound. `bound` is the bound of this search.
    pub(crate) fn or(self, earlier: Option<Box<OutcomeRuns>>, bound: u32) -> OutcomeRuns {
        let earlier = earlier.map_or_else(OutcomeRuns::default, |earlier| *earlier);
        let or = |one: Vec<_>, other: Vec<_>| if one.is_empty() { other } else { one };
        let mut failures = earlier.failures;
        let new = self.failures.into_iter().filter(|violation| !failures.contains(violation));
        let new: Vec<Violation> = new.collect();
        failures.extend(new);
        let is_bounded = matches!(self.incomplete, Some(InconclusiveReason::Bound { .. }));
        OutcomeRuns {
            incomplete: self.incomplete,
            complete_up_to: is_bounded.then_some(bound).or(earlier.complete_up_to),
            exist: self.exist || earlier.exist,
            failures,
            blocked: or(earlier.blocked, self.blocked),
            waiting: or(earlier.waiting, self.waiting),
        }
    }
}

fn is_failure(class: u32) -> bool {
    (FAILURE..WAITING).contains(&class)
}

/// A system that also reports runs without an outcome to the search, as targets.
pub(crate) struct Watched<'s, S>(pub(crate) &'s S);

impl<S: System> Watched<'_, S> {
    fn unpacked(&self, bytes: &[u8]) -> State<<S::Model as MemoryModel>::Pending> {
        let machine = self.0.machine();
        let mut state = machine.blank();
        machine.unpack(&self.0.packed(bytes), &mut state);
        state
    }

    /// Returns whether a state without steps contains a wrong guess, so that no run reaches it.
    fn is_refuted(&self, bytes: &[u8]) -> bool {
        self.0.machine().is_refuted(&self.unpacked(bytes))
    }

    /// Reports those of the steps with these numbers that fail. Returns whether there is one. The
    /// other steps violate a property of states, which does not end the run.
    fn report_failures(&self, bytes: &[u8], steps: &[u32], sink: &mut impl Sink) -> bool {
        let attempts = self.0.machine().attempt_steps(&self.unpacked(bytes));
        let mut fails = false;
        for step in steps {
            if let Err(failure) = attempts[*step as usize].taken {
                let statement = failure.label.map_or(0, |label| label.index() as u32 + 1);
                sink.target(FAILURE + statement, *step);
                fails = true;
            }
        }
        fails
    }
}

impl<S: System> Encoding for Watched<'_, S> {
    fn hasher(&self) -> impl Fn(&[u8]) -> u64 {
        self.0.hasher()
    }

    fn needs_recoding(&self) -> bool {
        self.0.needs_recoding()
    }

    fn begin_recoding(&self) -> impl Fn(&[u8], &mut Vec<u8>) {
        self.0.begin_recoding()
    }

    fn is_full(&self) -> bool {
        self.0.is_full()
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

impl<S: System> TransitionSystem for Watched<'_, S> {
    type Scratch = S::Scratch;

    fn scratch(&self) -> Self::Scratch {
        self.0.scratch()
    }

    fn initial<K: Sink>(&self, scratch: &mut Self::Scratch, sink: &mut K) {
        let mut watch = Watch::new(sink, &[]);
        self.0.initial(scratch, &mut watch);
        // `OutcomeRuns::of` drops a violation that does not end the run.
        if !watch.violations.is_empty() {
            watch.sink.target(FAILURE, INIT_DETAIL);
        }
    }

    fn expand<K: Sink>(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut K) {
        let mut watch = Watch::new(sink, state);
        self.0.expand(state, scratch, &mut watch);
        let is_hang = watch.violates && !watch.is_final;
        let Watch { sink, violations, steps, moves, .. } = watch;
        let fails = !violations.is_empty() && self.report_failures(state, &violations, &mut *sink);
        if !fails && (is_hang || !moves) && !self.is_refuted(state) {
            sink.target(if steps { WAITING } else { BLOCKED }, STATE_DETAIL);
        }
    }
}

/// A sink that observes the results of expanding one state.
struct Watch<'s, S> {
    sink: &'s mut S,
    state: &'s [u8],
    /// The numbers of the steps with a violation.
    violations: Vec<u32>,
    /// Whether the state has a step.
    steps: bool,
    /// Whether the run can leave the state or ends in it.
    moves: bool,
    /// Whether the state itself violates a property. If it is not final, it is a hang.
    violates: bool,
    /// Whether the state is final.
    is_final: bool,
}

impl<'s, S> Watch<'s, S> {
    fn new(sink: &'s mut S, state: &'s [u8]) -> Self {
        let (steps, moves, violates, is_final) = (false, false, false, false);
        Watch { sink, state, violations: Vec::new(), steps, moves, violates, is_final }
    }
}

impl<S: Sink> Sink for Watch<'_, S> {
    fn successor(&mut self, state: &[u8]) {
        self.steps = true;
        self.moves |= state != self.state;
        self.sink.successor(state);
    }

    fn hashed_successor(&mut self, state: &[u8], hash: u64) {
        self.steps = true;
        self.moves |= state != self.state;
        self.sink.hashed_successor(state, hash);
    }

    fn same_state(&mut self, state: &[u8]) {
        self.steps = true;
        self.sink.same_state(state);
    }

    fn is_farther(&self, state: &[u8]) -> bool {
        self.sink.is_farther(state)
    }

    fn is_hashed_farther(&self, state: &[u8], hash: u64) -> bool {
        self.sink.is_hashed_farther(state, hash)
    }

    fn target(&mut self, class: u32, detail: u32) {
        match detail {
            STATE_DETAIL => self.violates |= class == VIOLATION,
            step if class == VIOLATION => self.violations.push(step),
            _ => {}
        }
        self.sink.target(class, detail);
    }

    fn fact(&mut self, fact: &[u8]) {
        self.moves = true;
        self.is_final = true;
        self.sink.fact(fact);
    }

    fn bounded(&mut self) {
        self.moves = true;
        self.sink.bounded();
    }
}
