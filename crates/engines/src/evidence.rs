//! From what a search found to a run that shows it.
//!
//! A search stores states, not steps; the steps between the states of a path are found by taking every step
//! of each. In a system whose states are ordered, a neighbour on a path covers the state that the step
//! leads to, and the run goes on from the neighbour.

use crate::engine::{Budget, Settings};
use crate::verdict::{Evidence, Violation};
use fencepost_ir::{Property, Quantifier, Value};
use fencepost_models::bits::Writer;
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::system::{INITIAL, ITSELF, WITNESS};
use fencepost_models::replay::{End, Trace, replay};
use fencepost_models::{Machine, MemoryModel, Taken, Wrong};
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

/// Where the `final exists` properties are among the properties, with the classes of their witnesses.
pub(crate) fn exists<M: MemoryModel>(
    machine: &Machine<'_, M>,
) -> impl Iterator<Item = (usize, u32)> {
    (machine.shape.problem.properties.iter().enumerate())
        .filter(|(_, p)| matches!(p, Property::Final(Quantifier::Exists, _)))
        .map(|(at, _)| at)
        .zip(WITNESS..)
}

/// The first `final exists` that no state found satisfies.
pub(crate) fn missing_witness<M: MemoryModel, V: AsRef<Arena>>(
    machine: &Machine<'_, M>,
    found: &Exploration<V>,
) -> Option<usize> {
    exists(machine).find(|(_, class)| found.target(*class).is_none()).map(|(at, _)| at)
}

/// Turns a target of a search into a trace, and replays it.
///
/// # Panics
/// When the trace does not replay to a violation: the search and the machine disagree, and no verdict
/// could be trusted.
pub(crate) fn evidence<M: MemoryModel>(
    machine: &Machine<'_, M>,
    found: &Exploration,
    target: Target,
) -> Evidence {
    let same = |after: &[u8], next: &[u8]| after == next;
    let trace = path(machine, found, target, same).trace;
    let run = replay(machine, &trace).expect("what the search found replays");
    let violation = shown(run.end);
    assert!(violation.is_some() || target.class >= WITNESS, "a violation replays as one");
    let violation = violation.unwrap_or(Violation::Witness(0));
    Evidence { violation, trace: Some(trace), shortest: false }
}

/// What the end of a run shows to be wrong.
pub(crate) fn shown(end: End) -> Option<Violation> {
    Some(match end {
        End::Stumbled(thread, stumble) => match stumble.fault {
            Some(fault) => Violation::Fault(fault, thread, stumble.label),
            None => Violation::Assertion(thread, stumble.label),
        },
        End::Wrong(Wrong::MutualExclusion(a, b)) => Violation::MutualExclusion(a, b),
        End::Wrong(Wrong::Invariant(at)) => Violation::Invariant(at),
        End::Wrong(Wrong::Final(at)) => Violation::Final(at),
        End::Wrong(Wrong::Operations(at)) => Violation::Operations(at),
        End::Wrong(Wrong::Deadlock) => Violation::Deadlock,
        End::Fine => return None,
    })
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
        machine.unpack(pair[0], &mut state, |_| {});
        let right = machine.steps(&state).into_iter().find(|attempt| {
            attempt.taken == Ok(Taken::Yes)
                && leads(machine.encode(&attempt.after, &mut writer), pair[1])
        });
        trace.steps.push(right.expect("neighbours on a path are a step apart").step);
    }
    if target.detail != INITIAL && target.detail != ITSELF {
        let last = path.last().expect("a step comes from a state");
        machine.unpack(last, &mut state, |_| {});
        trace.steps.push(machine.steps(&state).swap_remove(target.detail as usize).step);
    }
    Path { trace, states: path.into_iter().map(<[u8]>::to_vec).collect() }
}
