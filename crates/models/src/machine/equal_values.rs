//! Equal values: register values between which no later step distinguishes.
//!
//! In `while (o >= l && v == i)` with l = 1, the values 1, 2 and 3 of `o` have the same effect: when `v` is
//! loaded, all of them lead to the same state of the thread. So a search keeps one of them, the smallest.
//!
//! Before a load, two values of a register are equal if the load leads to the same program counter and
//! registers for each value that it may read. The load has no other effect, and what is pending does not
//! depend on the register. So both states of the thread have the same steps until the load, and the same
//! state behind it: they are bisimilar.
//!
//! Direction: exact. A run of the search is a run of the program with other values of such registers.
//! Rejected: a program that stores the result of the condition instead of the value. It needs a new
//! statement, which changes the control flow that other analyses see.

use super::choice::Choices;
use super::{Machine, StepResult};
use crate::bits::Writer;
use crate::model::{MemoryModel, Scope};
use crate::mutation::Mutation;
use crate::state::State;
use fencepost_ir::{Loc, Op, ThreadId, Value};

/// The maximal number of values of a location or register that are tried.
const MAX_VALUES: u64 = 16;

/// What a load leads to, for each value that it may read: the packed program counter and registers, or
/// nothing if the thread is blocked.
type Results = Vec<Option<Vec<u8>>>;

impl<M: MemoryModel> Machine<'_, M> {
    /// Returns whether a search replaces values of registers by equal ones.
    fn unifies_values(&self) -> bool {
        self.reductions.equal_values && self.merges_quiet_accesses()
    }

    /// Replaces the values of a thread's registers by the smallest equal ones, if the search does so.
    /// Returns whether a value has changed.
    pub(super) fn unify_values(&self, state: &mut State<M::Pending>, t: ThreadId) -> bool {
        if !self.unifies_values() {
            return false;
        }
        let Some(loc) = self.loaded_location(state, t) else { return false };
        if self.shape.location_fields[loc.index()].range().1 >= MAX_VALUES {
            return false;
        }
        let mut tried = state.clone();
        tried.pending = self.model.empty_pending(&self.shape);
        let Some(results) = self.results_of_load(&tried, t, loc) else { return false };
        let thread = self.shape.thread(t);
        let mut changed = false;
        for (at, field) in thread.register_fields.iter().enumerate() {
            let at = thread.registers + at;
            let value = tried.registers[at];
            let (min, span) = field.range();
            if span >= MAX_VALUES {
                continue;
            }
            let is_equal = |candidate: &Value| {
                let mut other = tried.clone();
                other.registers[at] = *candidate;
                self.loaded_location(&other, t) == Some(loc)
                    && self.results_of_load(&other, t, loc).as_ref() == Some(&results)
            };
            if let Some(smallest) = (min..value).find(is_equal) {
                tried.registers[at] = smallest;
                state.registers[at] = smallest;
                changed = true;
            }
        }
        changed
    }

    /// Returns the location that a thread is about to load, if it is about to load one.
    fn loaded_location(&self, state: &State<M::Pending>, t: ThreadId) -> Option<Loc> {
        let pc = state.pcs[t.index()];
        if !matches!(self.shape.stmt(t, pc).op, Op::Load { .. }) {
            return None;
        }
        match self.model.issue_scope(&self.shape, state, t, pc) {
            Scope::Location(loc) => Some(loc),
            Scope::Thread | Scope::State => None,
        }
    }

    /// Returns what a load leads to, for each value of its location. Nothing is pending. None if it may
    /// fail.
    fn results_of_load(&self, state: &State<M::Pending>, t: ThreadId, loc: Loc) -> Option<Results> {
        let (min, span) = self.shape.location_fields[loc.index()].range();
        let count = if self.mutated.is(Mutation::EqualForOneValue) { 0 } else { span };
        let mut writer = Writer::default();
        let result = |value: Value| {
            let mut after = state.clone();
            after.memory.values[loc.index()] = value;
            match self.run(&mut after, t, &mut Choices::default(), &mut ()).ok()? {
                StepResult::Taken => {
                    writer.clear();
                    self.encode_control(&after, t, &mut writer);
                    writer.align();
                    Some(Some(writer.bytes().to_vec()))
                }
                StepResult::Blocked => Some(None),
                StepResult::BoundReached => None,
            }
        };
        (min..=min + count as Value).map(result).collect()
    }
}
