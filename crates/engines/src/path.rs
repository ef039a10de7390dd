//! From a target of a search to the steps that lead there.
//!
//! A search stores states, not steps. The steps between neighbouring states of a path are found by
//! taking every step of each state. If the states are ordered, the next state of a path covers the
//! state that the step leads to, and the run continues from the next state. If a search stores
//! representatives of [interchangeable threads](fencepost_models::symmetry), the steps are renamed.

use crate::engine::{Budget, Settings};
use crate::evidence::{Evidence, Witness};
use crate::verdict::{self, ReplayResult, Unsupported};
use fencepost_ir::Value;
use fencepost_models::bits::Writer;
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::collapsed::Collapsed;
use fencepost_models::machine::system::{FIRST_WITNESS, INIT_DETAIL, STATE_DETAIL, undecided_hang};
use fencepost_models::replay::{ReplayedRun, Trace, replay};
use fencepost_models::symmetry::Symmetric;
use fencepost_models::{Machine, MemoryModel};
use fencepost_search::visited::Arena;
use fencepost_search::{Exploration, Limits, Options, Target, TransitionSystem};
use std::collections::BTreeSet;

/// Returns the options of a search.
pub(crate) fn options(
    settings: Settings,
    budget: Budget<'_>,
    limits: Limits,
    stop_at: Option<u32>,
) -> Options<'_> {
    let Budget { cancel, progress } = budget;
    Options { limits, cancel, progress, threads: settings.threads, stop_at }
}

/// Returns the outcomes that a search has found.
pub(crate) fn outcomes<V>(found: &Exploration<V>) -> BTreeSet<Vec<Value>> {
    found.facts.iter().map(|fact| values(fact)).collect()
}

/// Decodes an outcome that the machine packed into a fact.
fn values(fact: &[u8]) -> Vec<Value> {
    let (chunks, _) = fact.as_chunks();
    chunks.iter().map(|bytes| Value::from_le_bytes(*bytes)).collect()
}

/// Returns why a search without a violation does not verify the problem, if so.
pub(crate) fn gap_of<M: MemoryModel, V: AsRef<Arena>>(
    machine: &Machine<'_, M>,
    found: &Exploration<V>,
) -> Option<Unsupported> {
    let problem = machine.shape.problem;
    let undecided_hang = found.target(undecided_hang(problem)).is_some();
    verdict::gap(problem, !found.facts.is_empty(), undecided_hang)
}

/// A system whose paths are runs of a machine.
pub(crate) trait System: TransitionSystem {
    /// The memory model.
    type Model: MemoryModel;

    /// Returns the steps of the machine to a target. Returns `None` if the search was cancelled.
    fn trace(&self, found: &Exploration, target: Target) -> Option<Trace>;

    /// Returns the machine.
    fn machine(&self) -> &Machine<'_, Self::Model>;

    /// Returns the packed form of a state.
    fn packed(&self, state: &[u8]) -> Vec<u8> {
        state.to_vec()
    }
}

impl<M: MemoryModel> System for Machine<'_, M> {
    type Model = M;

    fn trace(&self, found: &Exploration, target: Target) -> Option<Trace> {
        trace(self, found, target)
    }

    fn machine(&self) -> &Machine<'_, M> {
        self
    }
}

impl<M: MemoryModel> System for Collapsed<'_, '_, M> {
    type Model = M;

    fn trace(&self, found: &Exploration, target: Target) -> Option<Trace> {
        path(self, found, target, |after, next| after == next).map(|path| path.trace)
    }

    fn machine(&self) -> &Machine<'_, M> {
        self.machine
    }

    fn packed(&self, state: &[u8]) -> Vec<u8> {
        self.unfold(state)
    }
}

impl<M: MemoryModel> System for Symmetric<'_, '_, M> {
    type Model = M;

    fn trace(&self, found: &Exploration, target: Target) -> Option<Trace> {
        self.trace(&path_to(found, target), target.detail)
    }

    fn machine(&self) -> &Machine<'_, M> {
        self.machine
    }
}

/// Returns the states on the path to a target.
fn path_to<V: AsRef<Arena>>(found: &Exploration<V>, target: Target) -> Vec<&[u8]> {
    if target.detail == INIT_DETAIL { Vec::new() } else { found.path(target.state) }
}

/// Returns the witnesses that a search of the exact model found, by position in
/// `Problem::sometimes`. Some may be missing if the search was cancelled.
pub(crate) fn witnesses<S: System>(
    system: &S,
    found: &Exploration,
) -> Vec<Option<ReplayResult<Witness>>> {
    let machine = system.machine();
    let problem = machine.shape.problem;
    let classes = (FIRST_WITNESS..).zip(0..problem.sometimes.len());
    let witness = |(class, at)| {
        let run = replayed(system, found, found.target(class)?)?;
        let witness = Witness::from_run(problem, at, run).expect("a witness must replay as one");
        Some(ReplayResult::Confirmed(witness.shortest(!machine.reductions.partial_order)))
    };
    classes.map(witness).collect()
}

/// Replays the path to a violation found by a search of the exact model. Returns `None` if the
/// search was cancelled.
///
/// # Panics
/// Panics if the trace does not replay to a violation. Then the search and the machine disagree,
/// and no verdict can be trusted.
pub(crate) fn evidence<S: System>(
    system: &S,
    found: &Exploration,
    target: Target,
) -> Option<Evidence> {
    let run = replayed(system, found, target)?;
    Some(Evidence::from_run(run).expect("a violation must replay as one"))
}

fn replayed<S: System>(system: &S, found: &Exploration, target: Target) -> Option<ReplayedRun> {
    let run = replay(system.machine(), &system.trace(found, target)?);
    Some(run.expect("the machine must replay a path of the search"))
}

/// Returns the steps to a target of a search of the exact model. Returns `None` if the search was
/// cancelled.
pub(crate) fn trace<M: MemoryModel>(
    machine: &Machine<'_, M>,
    found: &Exploration,
    target: Target,
) -> Option<Trace> {
    let path = path_to(found, target);
    steps_of(machine, &path, target.detail, |after, next| after == next).map(|path| path.trace)
}

/// A path of a search, as a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// The steps of the run.
    pub trace: Trace,
    /// The packed state before each step, and after the last step unless that step fails.
    pub states: Vec<Vec<u8>>,
}

/// Reconstructs the steps between the states of a path to a target. `leads_to` returns whether its
/// second argument, a state of the path, equals or covers its first argument, the state after a
/// step. Both are packed. Returns `None` if the search was cancelled: then the steps of a state may be
/// incomplete.
pub(crate) fn path<M: MemoryModel, V: AsRef<Arena>>(
    system: &Collapsed<'_, '_, M>,
    found: &Exploration<V>,
    target: Target,
    leads_to: impl FnMut(&[u8], &[u8]) -> bool,
) -> Option<Path> {
    let path = path_to(found, target).into_iter();
    let path: Vec<Vec<u8>> = path.map(|state| system.unfold(state)).collect();
    let path: Vec<&[u8]> = path.iter().map(Vec::as_slice).collect();
    steps_of(system.machine, &path, target.detail, leads_to)
}

/// Reconstructs the steps between packed states, and the step with this detail of a target.
fn steps_of<M: MemoryModel>(
    machine: &Machine<'_, M>,
    path: &[&[u8]],
    detail: u32,
    mut leads_to: impl FnMut(&[u8], &[u8]) -> bool,
) -> Option<Path> {
    let is_cancelled = || machine.work_limits.is_cancelled();
    let mut writer = Writer::default();
    let mut trace = Trace { bound: machine.model.bound(), ..Trace::default() };
    let mut state = machine.blank();
    let mut choices = Choices::default();
    loop {
        let started = machine.start(&mut state, &mut choices, &mut ());
        let matching = match path.first() {
            None => {
                started.is_err()
                    || (started == Ok(true) && machine.state_violation(&state).is_some())
            }
            Some(first) => {
                started == Ok(true) && leads_to(machine.encode(&state, &mut writer), first)
            }
        };
        if matching {
            trace.init = choices.script().to_vec();
            break;
        }
        if !machine.next_combination(&mut choices) {
            assert!(is_cancelled(), "a path must start at an initial state");
            return None;
        }
    }
    let mut states: Vec<Vec<u8>> = Vec::new();
    for pair in path.windows(2) {
        machine.unpack(pair[0], &mut state);
        states.push(pair[0].to_vec());
        let found = machine.find_search_step(&state, |after| {
            leads_to(machine.encode(after, &mut writer), pair[1])
        });
        if is_cancelled() {
            return None;
        }
        let found = found.expect("neighbours on a path must be one step apart");
        trace.steps.extend(found.steps);
        let between = found.between.iter();
        states.extend(between.map(|state| machine.encode(state, &mut writer).to_vec()));
    }
    states.extend(path.last().map(|last| last.to_vec()));
    if detail != INIT_DETAIL && detail != STATE_DETAIL {
        let last = path.last().expect("a step must start from a state");
        machine.unpack(last, &mut state);
        let mut attempts = machine.attempt_steps(&state);
        if is_cancelled() {
            return None;
        }
        trace.steps.push(attempts.swap_remove(detail as usize).step);
    }
    Some(Path { trace, states })
}
