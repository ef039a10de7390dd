//! From what a search found to the steps that lead there.
//!
//! A search stores states, not steps; the steps between the states of a path are found by taking every step
//! of each. In a system whose states are ordered, a neighbour on a path covers the state that the step
//! leads to, and the run goes on from the neighbour.

use crate::engine::{Budget, Settings};
use crate::evidence::{Evidence, Witness};
use crate::verdict::Met;
use fencepost_ir::Value;
use fencepost_models::bits::Writer;
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::system::{INITIAL, ITSELF, WITNESS};
use fencepost_models::replay::{Run, Trace, replay};
use fencepost_models::{Machine, MemoryModel, Taken};
use fencepost_search::visited::Arena;
use fencepost_search::{Exploration, Limits, Options, Target};
use std::collections::BTreeSet;

/// The options of a search.
pub(crate) fn options(
    settings: Settings,
    budget: Budget<'_>,
    limits: Limits,
    stop_at: Option<u32>,
) -> Options<'_> {
    let Budget { cancel, progress } = budget;
    Options { limits, cancel, progress, threads: settings.threads, stop_at }
}

/// The outcomes that a search has met.
pub(crate) fn outcomes<V>(found: &Exploration<V>) -> BTreeSet<Vec<Value>> {
    found.facts.iter().map(|fact| values(fact)).collect()
}

/// An outcome as the machine packs it into a fact.
fn values(fact: &[u8]) -> Vec<Value> {
    let (chunks, _) = fact.as_chunks::<4>();
    chunks.iter().map(|four| Value::from_le_bytes(*four)).collect()
}

/// By position among the conditions that some run must meet: the witness that a search of the exact model has
/// found.
pub(crate) fn witnesses<M: MemoryModel>(
    machine: &Machine<'_, M>,
    found: &Exploration,
) -> Vec<Option<Met<Witness>>> {
    let problem = machine.shape.problem;
    let classes = (WITNESS..).zip(0..problem.sometimes.len());
    let witness = |(class, at)| {
        let run = replayed(machine, found, found.target(class)?);
        let witness = Witness::of(problem, at, run).expect("a witness replays as one");
        Some(Met::Replayed(witness.shortest(!machine.reductions.partial_order)))
    };
    classes.map(witness).collect()
}

/// Replays the path to a violation that a search of the exact model has found.
///
/// # Panics
/// When the trace does not replay to a violation: the search and the machine disagree, and no verdict
/// could be trusted.
pub(crate) fn evidence<M: MemoryModel>(
    machine: &Machine<'_, M>,
    found: &Exploration,
    target: Target,
) -> Evidence {
    Evidence::of(replayed(machine, found, target)).expect("a violation replays as one")
}

fn replayed<M: MemoryModel>(machine: &Machine<'_, M>, found: &Exploration, target: Target) -> Run {
    replay(machine, &trace(machine, found, target)).expect("what the search found replays")
}

/// The steps to a target of a search of the exact model.
pub(crate) fn trace<M: MemoryModel>(
    machine: &Machine<'_, M>,
    found: &Exploration,
    target: Target,
) -> Trace {
    path(machine, found, target, |after, next| after == next).trace
}

/// A path of a search as a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// Its steps.
    pub trace: Trace,
    /// The packed state before each step, and after the last unless it goes wrong.
    pub states: Vec<Vec<u8>>,
}

/// The steps between the states of a path to a target. `leads` says whether a state on the path is, or
/// stands for, one that a step leads to.
pub(crate) fn path<M: MemoryModel, V: AsRef<Arena>>(
    machine: &Machine<'_, M>,
    found: &Exploration<V>,
    target: Target,
    mut leads: impl FnMut(&[u8], &[u8]) -> bool,
) -> Path {
    let path = if target.detail == INITIAL { Vec::new() } else { found.path(target.state) };
    let mut writer = Writer::default();
    let mut trace = Trace { bound: machine.model.bound(), ..Trace::default() };
    let mut state = machine.blank();
    let mut choices = Choices::default();
    loop {
        let started = machine.start(&mut state, &mut choices, &mut ());
        let right = match path.first() {
            None => started.is_err() || (started == Ok(true) && machine.wrong(&state).is_some()),
            Some(first) => started == Ok(true) && leads(machine.encode(&state, &mut writer), first),
        };
        if right {
            trace.init = choices.script().to_vec();
            break;
        }
        assert!(choices.advance(), "a path begins at an initial state");
    }
    for pair in path.windows(2) {
        machine.unpack(pair[0], &mut state);
        let right = machine.steps(&state).into_iter().find(|attempt| {
            attempt.taken == Ok(Taken::Yes)
                && leads(machine.encode(&attempt.after, &mut writer), pair[1])
        });
        trace.steps.push(right.expect("neighbours on a path are a step apart").step);
    }
    if target.detail != INITIAL && target.detail != ITSELF {
        let last = path.last().expect("a step comes from a state");
        machine.unpack(last, &mut state);
        trace.steps.push(machine.steps(&state).swap_remove(target.detail as usize).step);
    }
    Path { trace, states: path.into_iter().map(<[u8]>::to_vec).collect() }
}
