//! The visited set: states that differ only in their buffer contents are compared by inclusion.
//!
//! Source: \[LW10\] section 4, the table H of Algorithm 3.

use super::transition::Transitions;
use super::{Symbolic, SymbolicState};
use fencepost_automata::Language;
use fencepost_models::bits::Writer;
use std::collections::HashMap;

/// The visited states with the same control and memory. They differ in their buffer contents only.
#[derive(Debug, Default)]
pub(super) struct ContentsByControl {
    /// The visited states.
    pub(super) members: Vec<Member>,
    /// The positions of such states on the stack, from the bottom.
    pub(super) on_stack: Vec<usize>,
    /// Whether these states violate a property, whatever is pending.
    pub(super) violates: bool,
    /// Whether the state with empty buffers was checked.
    pub(super) checked_at_rest: bool,
}

/// A visited state.
#[derive(Debug)]
pub(super) struct Member {
    pending: Box<[Language]>,
    /// The transitions that were not explored from this state, because they are explored elsewhere.
    sleep: Transitions,
}

/// The visited set.
#[derive(Debug, Default)]
pub(super) struct Visited {
    numbers: HashMap<Box<[u8]>, usize>,
    pub(super) by_control: Vec<ContentsByControl>,
    writer: Writer,
    /// The number of stored states.
    pub(super) states: u64,
    /// An estimate of the memory of the stored states.
    pub(super) bytes: u64,
}

impl Visited {
    /// Returns the index of the entry for the control and memory of a state.
    pub(super) fn control_index(&mut self, machine: &Symbolic<'_>, state: &SymbolicState) -> usize {
        let bytes = machine.encode_without_pending(state, &mut self.writer);
        if let Some(number) = self.numbers.get(bytes) {
            return *number;
        }
        let number = self.by_control.len();
        self.bytes += bytes.len() as u64 + 128;
        self.numbers.insert(bytes.into(), number);
        self.by_control.push(ContentsByControl::default());
        number
    }

    /// Adds a state with its sleep set. Returns the transitions left to explore from the state, and
    /// its new sleep set. None if covering states explore all transitions.
    pub(super) fn enter(
        &mut self,
        machine: &Symbolic<'_>,
        control: usize,
        state: &SymbolicState,
        sleep: Transitions,
        rearranged: bool,
    ) -> Option<(Transitions, Transitions)> {
        let all = Transitions::all(state.pcs.len());
        let members = &mut self.by_control[control].members;
        let discipline = &machine.model.0;
        // Choose the covering state that leaves the fewest transitions. DIVERGENCE: the paper uses
        // the intersection of the sleep sets of all covering states. Then a transition that is
        // asleep in one covering state counts as explored, although possibly no covering state
        // explores it in an order that wakes the others.
        let mut slept: Option<Transitions> = None;
        let mut same = None;
        for (at, member) in members.iter().enumerate() {
            if discipline.covers(&member.pending, &state.pending, rearranged) {
                let left = |slept: Transitions| slept.without(sleep).len();
                if slept.is_none_or(|least| left(member.sleep) < left(least)) {
                    slept = Some(member.sleep);
                }
                if *member.pending == *state.pending {
                    same = Some(at);
                }
            }
        }
        let (todo, sleep) = match slept {
            None => (all.without(sleep), sleep),
            Some(slept) => (slept.without(sleep), slept.intersection(sleep)),
        };
        if slept.is_some() && todo.is_empty() {
            return None;
        }
        match same {
            Some(at) => members[at].sleep = sleep,
            None => {
                self.states += 1;
                self.bytes += 64 + 4 * state.pending.len() as u64;
                members.push(Member { pending: state.pending.as_slice().into(), sleep });
            }
        }
        Some((todo, sleep))
    }
}
