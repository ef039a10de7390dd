//! Quiet accesses: accesses that are executed together with the step before them.
//!
//! An access of a thread is quiet if it is enabled, commutes with every step of the memory model and of
//! other threads whatever the rest of the state is, and is invisible to the properties. Examples: a
//! store enters a store buffer, a full fence finds the buffer empty, a load reads a value that the
//! thread does not use. Such an access alone is a persistent set ([`super::system`]), so a search need
//! not store the state before it: the step before goes on over the quiet accesses that follow.
//!
//! Direction: exact. No step is postponed forever: every cycle of the search still passes stored states,
//! and the cycle proviso applies to them. A run has all steps: [`Machine::find_search_step`] finds
//! them again.
//!
//! *Unused values.* `if (a && b)` with `a` = 0 does not depend on `b`. So the load of `b` is quiet if
//! the state of the thread behind the load, without dead registers, is the same for each value that the
//! location may hold. The thread must have no pending store to the location: its commit would order the
//! load.
//!
//! Quiet accesses depend only on the part of their thread, so a table remembers where they end
//! ([`super::step_table`]). There, the search also replaces [equal values](super::equal_values).

use super::choice::Choices;
use super::step_table::{Commutes, PartId, StepTable};
use super::{Action, Attempt, Machine, Step, StepResult};
use crate::bits::Writer;
use crate::model::{MemoryModel, Scope};
use crate::mutation::Mutation;
use crate::state::State;
use fencepost_ir::{Loc, Op, Pc, ThreadId, Value};

/// The maximal number of quiet accesses that one step executes. It ends infinite loops of them.
const MAX_QUIET: usize = 64;

/// The maximal number of values of a location for which a load is tried.
const MAX_VALUES: u64 = 16;

/// A step of a search: a step of the machine with the quiet accesses behind it.
#[derive(Clone, Debug)]
pub struct SearchStep<P> {
    /// The steps of the machine, all of one thread.
    pub steps: Vec<Step>,
    /// The states between these steps.
    pub between: Vec<State<P>>,
}

impl<M: MemoryModel> Machine<'_, M> {
    /// Returns the first step of a search from a state after which `is_next` holds. `is_next` gets the
    /// state with equal values replaced. A search with a smaller bound on pending accesses may have
    /// ended its step before any of the quiet accesses, so these steps are tried, too.
    pub fn find_search_step(
        &self,
        state: &State<M::Pending>,
        mut is_next: impl FnMut(&State<M::Pending>) -> bool,
    ) -> Option<SearchStep<M::Pending>> {
        let attempts = self.attempt_steps(state).into_iter();
        let mut taken = attempts.filter(|attempt| attempt.taken == Ok(StepResult::Taken));
        taken.find_map(|Attempt { step, mut after, .. }| {
            let thread = step.thread;
            let mut found = SearchStep { steps: vec![step], between: Vec::new() };
            loop {
                let mut unified = after.clone();
                self.unify_values(&mut unified, thread);
                if is_next(&unified) {
                    return Some(found);
                }
                found.between.push(after.clone());
                if found.between.len() > MAX_QUIET || !self.take_quiet_step(&mut after, thread) {
                    return None;
                }
                found.steps.push(Step { thread, action: Action::Run(Vec::new()) });
            }
        })
    }

    /// Returns whether a search executes quiet accesses together with the step before them.
    pub(super) fn merges_quiet_accesses(&self) -> bool {
        let Self { reductions, model, shape, .. } = self;
        reductions.partial_order
            && reductions.quiet_accesses
            && model.has_quiet_accesses()
            && !shape.grace_periods.occur
    }

    /// Executes the next access of a thread if it is quiet and the search executes it together with
    /// the step before it. Returns whether it did.
    fn take_quiet_step(&self, state: &mut State<M::Pending>, t: ThreadId) -> bool {
        if !self.merges_quiet_accesses() || !self.may_be_quiet(state, t) {
            return false;
        }
        let mut after = state.clone();
        let taken = self.run(&mut after, t, &mut Choices::default(), &mut ());
        let is_quiet = taken == Ok(StepResult::Taken) && !self.is_visible(state, &after, t);
        if is_quiet {
            *state = after;
        }
        is_quiet
    }

    /// Executes quiet accesses of a thread, then replaces equal values. Returns whether the state has
    /// changed.
    pub(super) fn settle(&self, state: &mut State<M::Pending>, t: ThreadId) -> bool {
        let quiet = (0..MAX_QUIET).take_while(|_| self.take_quiet_step(state, t)).count();
        self.unify_values(state, t) || quiet > 0
    }

    /// Returns whether the next access of a thread is quiet if it is enabled and invisible.
    fn may_be_quiet(&self, state: &State<M::Pending>, t: ThreadId) -> bool {
        let pc = state.pcs[t.index()];
        let op = &self.shape.stmt(t, pc).op;
        if op.memory().is_none() {
            return false;
        }
        let scope = self.model.issue_scope(&self.shape, state, t, pc);
        if let Op::Load { .. } = op {
            return matches!(scope, Scope::Location(loc) if self.is_unused(state, t, pc, loc));
        }
        let condition = self.run_condition(state, t);
        let commutes = condition.map_or(Commutes::Never, |condition| self.commutes_if(condition));
        scope == Scope::Thread && commutes == Commutes::Unless(0, 0)
    }

    /// Returns whether a thread is in the same state behind a load for every value of its location.
    fn is_unused(&self, state: &State<M::Pending>, t: ThreadId, pc: Pc, loc: Loc) -> bool {
        let (min, span) = self.shape.location_fields[loc.index()].range();
        let may_be_forwarded =
            self.model.pending_accesses_to(&self.shape, &state.pending, t, loc).stores
                && !self.mutated.is(Mutation::QuietForwarding);
        if span >= MAX_VALUES || may_be_forwarded {
            return false;
        }
        debug_assert!(matches!(self.shape.stmt(t, pc).op, Op::Load { .. }), "only a load is tried");
        let mut writer = Writer::default();
        let mut first: Option<Vec<u8>> = None;
        let count = if self.mutated.is(Mutation::QuietLoads) { 0 } else { span };
        (min..=min + count as Value).all(|value| {
            let mut after = state.clone();
            after.memory.values[loc.index()] = value;
            if self.run(&mut after, t, &mut Choices::default(), &mut ()) != Ok(StepResult::Taken) {
                return false;
            }
            writer.clear();
            self.encode_thread(&after, t, &mut writer);
            first.get_or_insert_with(|| writer.bytes().to_vec()) == writer.bytes()
        })
    }

    /// Returns the part of a thread behind the quiet accesses that follow `part`, with equal values
    /// replaced. `part` is the part of the thread in `state`.
    pub(super) fn settled_part(
        &self,
        state: &State<M::Pending>,
        t: ThreadId,
        part: PartId,
        (table, internal): (&mut StepTable, &mut Vec<u32>),
    ) -> PartId {
        if let Some(settled) = table.part(part).settled {
            return settled;
        }
        let mut after = state.clone();
        let mut settled = part;
        if self.settle(&mut after, t) {
            let mut writer = Writer::default();
            self.encode_thread(&after, t, &mut writer);
            settled = self.find_part(&after, t, &mut writer, table, internal);
        }
        table.set_settled(part, settled);
        settled
    }
}
