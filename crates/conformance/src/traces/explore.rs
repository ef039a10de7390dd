//! Exploration of all runs of a program: the set of their traces, and their number.
//!
//! Runs that reach the same state with the same trace are merged. Invisible steps
//! ([`Machine::is_invisible`]) are taken first and alone. For a test, [`traces`] can disable that.

use std::collections::{BTreeSet, HashMap, HashSet};

use fencepost_ir::{Program, Value};

use super::cycle::has_cycle;
use super::step::{BufferModel, Local, Machine, State};
use super::{MAX_EVENTS, Trace, Traces};

/// Returns the traces of all maximal runs. Returns `None` if a run fails or is infinite, or if
/// there are more than `max_states` states. Without `eager`, invisible steps are interleaved like
/// all other steps.
pub fn traces(
    program: &Program,
    model: BufferModel,
    max_states: usize,
    eager: bool,
) -> Option<Traces> {
    let machine = Machine::new(program, model);
    let mut traces = Traces::default();
    visit_states(&machine, max_states, eager, |state, last| {
        if last {
            let halted = machine.all_halted(state);
            let set = if halted { &mut traces.complete } else { &mut traces.stuck };
            set.insert(state.recorder.trace().clone());
        }
    })?;
    Some(traces)
}

/// Returns the traces of all prefixes of runs, or `None` as [`traces`] does.
pub fn prefixes(
    program: &Program,
    model: BufferModel,
    max_states: usize,
) -> Option<BTreeSet<Trace>> {
    let mut prefixes = BTreeSet::new();
    visit_states(&Machine::new(program, model), max_states, false, |state, _| {
        prefixes.insert(state.recorder.trace().clone());
    })?;
    Some(prefixes)
}

/// Returns whether some maximal run has a cycle of happens-before. Spin loops are ordinary loops,
/// but each thread jumps back at most `max_back_jumps` times. A cycle of a run is a cycle of every
/// longer run, so maximal runs suffice. Returns `None` as [`traces`] does.
pub fn has_non_sc_run(
    program: &Program,
    model: BufferModel,
    max_states: usize,
    max_back_jumps: usize,
) -> Option<bool> {
    let machine = Machine { program, model, max_back_jumps: Some(max_back_jumps) };
    let mut found = false;
    visit_states(&machine, max_states, true, |state, last| {
        found |= last && has_cycle(state.recorder.trace());
    })?;
    Some(found)
}

/// Explores all runs as [`traces`] does. Calls `visit` with every state and whether it has no
/// successor.
pub fn visit_states(
    machine: &Machine<'_>,
    max_states: usize,
    eager: bool,
    mut visit: impl FnMut(&State, bool),
) -> Option<()> {
    let mut seen: HashSet<State> = HashSet::new();
    let mut todo = machine.initial()?;
    while let Some(state) = todo.pop() {
        if seen.contains(&state) {
            continue;
        }
        if seen.len() >= max_states || state.recorder.events() > MAX_EVENTS {
            return None;
        }
        let next = successors(machine, &state, eager)?;
        visit(&state, next.is_empty());
        todo.extend(next);
        seen.insert(state);
    }
    Some(())
}

/// Returns the number of maximal SC runs, with invisible steps first.
pub fn interleavings(program: &Program, max_states: usize) -> Option<u64> {
    let mut counter = Counter {
        machine: Machine::new(program, BufferModel::Sc),
        counts: HashMap::new(),
        max_states,
    };
    counter.machine.initial()?.into_iter().map(|state| counter.count(state)).sum()
}

fn successors(machine: &Machine<'_>, state: &State, eager: bool) -> Option<Vec<State>> {
    let mut all = Vec::new();
    for t in 0..state.threads.len() {
        let next = machine.statement(state, t)?;
        if eager && machine.is_invisible(state, t) && !next.is_empty() {
            return Some(next);
        }
        all.extend(next);
        all.extend(machine.commits(state, t));
    }
    Some(all)
}

/// Counts runs. The number of runs from a state is computed once.
struct Counter<'a> {
    machine: Machine<'a>,
    /// The number of runs from each state (memory and threads). `None` while it is being computed.
    counts: HashMap<(Vec<Value>, Vec<Local>), Option<u64>>,
    max_states: usize,
}

impl Counter<'_> {
    fn count(&mut self, state: State) -> Option<u64> {
        let key = (state.memory.clone(), state.threads.clone());
        if let Some(count) = self.counts.get(&key) {
            // `None`: the state is on a cycle, so there are infinite runs.
            return *count;
        }
        if self.counts.len() >= self.max_states {
            return None;
        }
        self.counts.insert(key.clone(), None);
        let next = successors(&self.machine, &state, true)?;
        let mut count = if next.is_empty() { 1 } else { 0u64 };
        for state in next {
            count = count.checked_add(self.count(state)?)?;
        }
        self.counts.insert(key, Some(count));
        Some(count)
    }
}
