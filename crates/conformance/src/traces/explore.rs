//! All runs of a program: the set of their traces, and how many there are.
//!
//! Two runs that are in the same state with the same trace so far are followed once. Invisible steps
//! ([`Steps::is_invisible`]) go first, alone; [`traces`] can do without that, for a test.

use std::collections::{BTreeSet, HashMap, HashSet};

use fencepost_ir::{Program, Value};

use super::step::{Discipline, Local, State, Steps};
use super::{LONGEST, Trace, Traces};

/// The traces of all maximal runs, if all are fine and there are at most so many states. Without `eager`,
/// invisible steps are taken at any time, as all others are.
pub fn traces(
    program: &Program,
    discipline: Discipline,
    max_states: usize,
    eager: bool,
) -> Option<Traces> {
    let steps = Steps { program, discipline };
    let mut traces = Traces::default();
    runs(&steps, max_states, eager, |state, last| {
        if last {
            let halted = steps.all_halted(state);
            let set = if halted { &mut traces.complete } else { &mut traces.stuck };
            set.insert(state.recorder.trace().clone());
        }
    })?;
    Some(traces)
}

/// The traces of all runs up to any state.
pub fn prefixes(
    program: &Program,
    discipline: Discipline,
    max_states: usize,
) -> Option<BTreeSet<Trace>> {
    let mut prefixes = BTreeSet::new();
    runs(&Steps { program, discipline }, max_states, false, |state, _| {
        prefixes.insert(state.recorder.trace().clone());
    })?;
    Some(prefixes)
}

/// Takes all runs, as [`traces`] does, and shows their states, and whether each is a last one.
pub fn runs(
    steps: &Steps<'_>,
    max_states: usize,
    eager: bool,
    mut show: impl FnMut(&State, bool),
) -> Option<()> {
    let mut seen: HashSet<State> = HashSet::new();
    let mut todo = steps.initial()?;
    while let Some(state) = todo.pop() {
        if seen.contains(&state) {
            continue;
        }
        if seen.len() >= max_states || state.recorder.events() > LONGEST {
            return None;
        }
        let next = successors(steps, &state, eager)?;
        show(&state, next.is_empty());
        todo.extend(next);
        seen.insert(state);
    }
    Some(())
}

/// How many maximal runs there are under SC, invisible steps first.
pub fn interleavings(program: &Program, max_states: usize) -> Option<u64> {
    let mut counter = Counter {
        steps: Steps { program, discipline: Discipline::Sc },
        known: HashMap::new(),
        max_states,
    };
    counter.steps.initial()?.into_iter().map(|state| counter.count(state)).sum()
}

fn successors(steps: &Steps<'_>, state: &State, eager: bool) -> Option<Vec<State>> {
    let mut all = Vec::new();
    for t in 0..state.threads.len() {
        let next = steps.statement(state, t)?;
        if eager && steps.is_invisible(state, t) && !next.is_empty() {
            return Some(next);
        }
        all.extend(next);
        all.extend(steps.commits(state, t));
    }
    Some(all)
}

/// Counts runs. Those that meet in a state go on in the same ways.
struct Counter<'a> {
    steps: Steps<'a>,
    /// By memory and threads; `None` while it is being counted.
    known: HashMap<(Vec<Value>, Vec<Local>), Option<u64>>,
    max_states: usize,
}

impl Counter<'_> {
    fn count(&mut self, state: State) -> Option<u64> {
        let key = (state.memory.clone(), state.threads.clone());
        if let Some(known) = self.known.get(&key) {
            // One that is being counted is on a cycle: there are runs without end.
            return *known;
        }
        if self.known.len() >= self.max_states {
            return None;
        }
        self.known.insert(key.clone(), None);
        let next = successors(&self.steps, &state, true)?;
        let mut count = if next.is_empty() { 1 } else { 0u64 };
        for state in next {
            count = count.checked_add(self.count(state)?)?;
        }
        self.known.insert(key, Some(count));
        Some(count)
    }
}
