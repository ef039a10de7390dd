//! The states entered so far, by what is the same when they are compared.
//!
//! Source: \[LW10\] section 4, the table H of Algorithm 3.

use super::transition::Transitions;
use super::{Symbolic, SymbolicState};
use fencepost_automata::Language;
use fencepost_models::bits::Writer;
use std::collections::HashMap;

/// States that differ in what is pending only.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// Those entered.
    pub(super) entered: Vec<Entered>,
    /// Where such states are on the stack, from the bottom.
    pub(super) on_stack: Vec<usize>,
    /// Whether something is wrong with them, whatever is pending.
    pub(super) wrong: bool,
    /// Whether what is so when nothing is pending was looked at.
    pub(super) rested: bool,
}

/// A state entered.
#[derive(Debug)]
pub(super) struct Entered {
    pending: Box<[Language]>,
    /// What was not explored from it, because it is explored elsewhere.
    sleep: Transitions,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Visited {
    numbers: HashMap<Box<[u8]>, usize>,
    pub(super) rooms: Vec<Room>,
    writer: Writer,
    /// How many states were entered.
    pub(super) states: u64,
    /// What they take, roughly.
    pub(super) bytes: u64,
}

impl Visited {
    /// The room of a state.
    pub(super) fn room(&mut self, machine: &Symbolic<'_>, state: &SymbolicState) -> usize {
        let bytes = machine.encode_settled(state, &mut self.writer);
        if let Some(number) = self.numbers.get(bytes) {
            return *number;
        }
        let number = self.rooms.len();
        self.bytes += bytes.len() as u64 + 128;
        self.numbers.insert(bytes.into(), number);
        self.rooms.push(Room::default());
        number
    }

    /// Enters a state with its sleep set. What is left to explore from it, and its sleep set then;
    /// none when all that is explored from states that cover it.
    pub(super) fn enter(
        &mut self,
        machine: &Symbolic<'_>,
        room: usize,
        state: &SymbolicState,
        sleep: Transitions,
    ) -> Option<(Transitions, Transitions)> {
        let all = Transitions::all(state.pcs.len());
        let room = &mut self.rooms[room].entered;
        let discipline = &machine.model.0;
        // Of the states that cover it, the one from which most was explored. DIVERGENCE: the paper takes what
        // sleeps in all of them; then what sleeps in one of them may have been explored from none in an
        // order in which the rest wakes.
        let mut slept: Option<Transitions> = None;
        let mut same = None;
        for (at, entered) in room.iter().enumerate() {
            if discipline.covers(&entered.pending, &state.pending) {
                let left = |slept: Transitions| slept.without(sleep).len();
                if slept.is_none_or(|least| left(entered.sleep) < left(least)) {
                    slept = Some(entered.sleep);
                }
                if *entered.pending == *state.pending {
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
            Some(at) => room[at].sleep = sleep,
            None => {
                self.states += 1;
                self.bytes += 64 + 4 * state.pending.len() as u64;
                room.push(Entered { pending: state.pending.as_slice().into(), sleep });
            }
        }
        Some((todo, sleep))
    }
}
