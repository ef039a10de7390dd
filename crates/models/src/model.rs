//! The interface between a memory model and the machine.
//!
//! The machine handles program counters and control flow. A model handles what happens between a
//! thread and memory. A model gets one operation at a time, with the thread that executes it. It
//! never sees control flow or properties.

use crate::bits::{Reader, Writer};
use crate::event::EventRecorder;
use crate::shape::Shape;
use crate::state::State;
use crate::table::Bypass;
use fencepost_ir::{Access, Fault, Label, Loc, Op, Pc, Program, Reg, ThreadId, Value, Violation};
use std::fmt::Debug;

/// The result of issuing an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IssueResult {
    /// The operation is issued; the thread continues.
    Done,
    /// The operation is not enabled in this state.
    Blocked,
    /// The operation is enabled, but the bound on pending accesses forbids it.
    BoundReached,
}

/// A fault or a failed assertion in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StepFailure {
    /// The fault, or `None` for a failed assertion.
    pub fault: Option<Fault>,
    /// The statement that fails, if the model knows it.
    pub label: Option<Label>,
}

impl StepFailure {
    /// Returns the violation of a program. `thread` is `None` for `init`.
    pub fn violation(self, program: &Program, thread: Option<ThreadId>) -> Violation {
        let of_source = self.label.and_then(|label| program.faults.get(&label).copied());
        match self.fault.or(of_source) {
            // The initial value of such a location is outside of the ranges of registers.
            Some(Fault::OutOfRange) if !program.uninitialised.is_empty() => {
                Violation::Fault(Fault::Uninitialised, thread, self.label)
            }
            Some(fault) => Violation::Fault(fault, thread, self.label),
            None => Violation::Assertion(thread, self.label),
        }
    }
}

/// The direction in which a model approximates the model that it represents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fidelity {
    /// Exactly the same behaviours.
    Exact,
    /// An over-approximation: all behaviours and possibly more. A violation may be spurious.
    Over,
    /// An under-approximation: only some behaviours. A violation may be missed.
    Under,
}

/// A condition under which a step commutes with everything that can precede it. Which condition it is
/// depends only on the thread; whether it holds depends on the other threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// The step always commutes.
    Always,
    /// The step is not known to commute.
    Never,
    /// No other thread may free the record of the location before the step.
    NoFree(Loc),
    /// No other thread may store to the location or free it before the step.
    NoStore(Loc),
    /// No other thread may access the location before the step, and no property observes it.
    NoAccess(Loc),
}

/// What a step reads and changes besides its own thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Nothing.
    Thread,
    /// The value of one location, which is no field of a record.
    Location(Loc),
    /// Anything.
    State,
}

/// A step of a thread that accesses a location in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RacingStep {
    /// The next statement of the thread.
    Run,
    /// An internal step, with its number.
    Internal(u32),
    /// The next statement of the thread, which becomes pending and is performed at once.
    AtOnce,
}

/// A memory model.
pub trait MemoryModel: Sync {
    /// The pending accesses of all threads in a state.
    type Pending: Clone + PartialEq + Debug + Send;

    /// Returns the direction of approximation.
    fn fidelity(&self) -> Fidelity;

    /// Returns the bound on pending accesses if the bound determines how far a step goes. This is
    /// so for windows: one step fetches statements until the window is full.
    fn bound(&self) -> Option<u32> {
        None
    }

    /// Returns the pending accesses of an initial state: none.
    fn empty_pending(&self, shape: &Shape<'_>) -> Self::Pending;

    /// Returns whether the thread knows the values of these registers now.
    fn are_registers_known(&self, _: &State<Self::Pending>, _: ThreadId, _: &[Reg]) -> bool {
        true
    }

    /// Returns the bypass table if the model guesses the directions of branches.
    #[inline]
    fn speculation(&self) -> Option<Bypass> {
        None
    }

    /// Returns whether accesses have orders, so that fences which implement orders are ignored.
    #[inline]
    fn has_ordered_accesses(&self) -> bool {
        false
    }

    /// Returns whether the load of an update may be performed before an earlier branch is resolved.
    fn updates_load_early(&self) -> bool {
        false
    }

    /// Returns whether the thread has guessed something that is not resolved yet: the direction of
    /// a branch, or something about a pending access.
    #[inline]
    fn is_speculating(&self, _: &Shape<'_>, _: &Self::Pending, _: ThreadId) -> bool {
        false
    }

    /// Returns whether the thread may keep other threads from writing a location. A state without
    /// steps in which a thread does so is not reached by the program.
    #[inline]
    fn holds_locations(&self, _: &Self::Pending, _: ThreadId) -> bool {
        false
    }

    /// Returns the statement up to which control is not a guess: the oldest unresolved branch or
    /// assumption, or the program counter.
    #[inline]
    fn control_point(&self, _: &Shape<'_>, state: &State<Self::Pending>, t: ThreadId) -> Pc {
        state.pcs[t.index()]
    }

    /// Returns the location of the pending accesses that will produce the unknown registers of the
    /// statement at `pc`, if all of them are to one location.
    fn awaited_location(
        &self,
        _: &Shape<'_>,
        _: &State<Self::Pending>,
        _: ThreadId,
        _: Pc,
    ) -> Option<Loc> {
        None
    }

    /// Returns whether a register has a value with which a load can compute its address, perhaps a
    /// presumed one. `true` is always sound.
    fn has_value(
        &self,
        _: &Shape<'_>,
        state: &State<Self::Pending>,
        t: ThreadId,
        reg: Reg,
    ) -> bool {
        self.are_registers_known(state, t, &[reg])
    }

    /// Returns whether no load of the location, with or without acquire order, that the thread
    /// fetches later can be performed before an internal step of the thread, except by taking the
    /// value of a store that it fetches later. `false` is always sound.
    fn blocks_later_loads(
        &self,
        _: &Shape<'_>,
        _: &State<Self::Pending>,
        _: ThreadId,
        _: Loc,
        _acquire: bool,
    ) -> bool {
        false
    }

    /// Clears a register that is never read again.
    fn clear_register(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Self::Pending>,
        t: ThreadId,
        reg: Reg,
    ) {
        state.registers[shape.register(t, reg)] = 0;
    }

    /// Records that the machine just computed the value of a register.
    fn define_register(&self, _: &Shape<'_>, _: &mut State<Self::Pending>, _: ThreadId, _: Reg) {}

    /// Returns whether issuing this operation is invisible to other threads and always enabled, so
    /// that the machine issues it together with the previous step (a fetch into a window).
    fn is_fetched_eagerly(&self, _: &Op) -> bool {
        false
    }

    /// Returns whether the operation becomes a pending access when it is issued.
    fn becomes_pending(&self, op: &Op) -> bool;

    /// Returns whether accesses may be issued late. This needs exact queues or windows.
    fn can_issue_late(&self) -> bool {
        false
    }

    /// Appends the internal steps of a thread that perform an access which is not pending in
    /// `before`, where `before` are the pending accesses in an earlier state since which none of
    /// them was performed. With queues, a step takes the oldest store to its location. This store is
    /// new if there was none before.
    fn steps_of_new_accesses(
        &self,
        shape: &Shape<'_>,
        before: &Self::Pending,
        state: &State<Self::Pending>,
        t: ThreadId,
        out: &mut Vec<u32>,
    ) {
        self.internal_steps(shape, state, t, out);
        let none = Access { loads: false, stores: false };
        out.retain(|step| {
            let loc = self.step_location(shape, state, t, *step);
            loc.is_some_and(|loc| self.pending_accesses_to(shape, before, t, loc) == none)
        });
    }

    /// Returns whether steps may be tabulated: what a thread can do next, its internal steps, and the
    /// conditions under which they commute depend only on its own pending accesses, and the results
    /// of its steps on their [scopes](Scope), too. The model guesses nothing.
    fn has_tables(&self) -> bool {
        false
    }

    /// Returns whether a search may execute [quiet accesses](crate::machine::quiet) together with the
    /// step before them. The model [has tables](Self::has_tables) and is exact.
    fn has_quiet_accesses(&self) -> bool {
        false
    }

    /// Returns the scope of the memory operation at `pc`. [`Scope::State`] is always sound.
    fn issue_scope(&self, _: &Shape<'_>, _: &State<Self::Pending>, _: ThreadId, _: Pc) -> Scope {
        Scope::State
    }

    /// Returns the number of alternatives of the operation at `pc`. The number is more than one
    /// only if an abstraction does not know the value that a load reads, or if the direction of a
    /// branch is guessed.
    #[inline]
    fn alternatives(&self, _: &Shape<'_>, _: &State<Self::Pending>, _: ThreadId, _: Pc) -> u32 {
        1
    }

    /// Issues the memory operation at `pc`, with the given [alternative](Self::alternatives). A
    /// model that defers statements also gets assignments and assertions whose registers are not
    /// known yet. A model with [speculation](Self::speculation) also gets such branches and
    /// assumptions; the alternative is the guess: 0 if the condition holds, 1 if it does not.
    fn issue(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Self::Pending>,
        t: ThreadId,
        pc: Pc,
        alternative: u32,
        recorder: &mut dyn EventRecorder,
    ) -> Result<IssueResult, StepFailure>;

    /// Appends the internal steps of a thread to `out`, in a fixed order. The numbers are arguments
    /// of [`Self::perform_internal_step`]. A step is enabled unless it refutes a guess.
    fn internal_steps(
        &self,
        shape: &Shape<'_>,
        state: &State<Self::Pending>,
        t: ThreadId,
        out: &mut Vec<u32>,
    );

    /// Returns the location that an internal step accesses.
    fn step_location(
        &self,
        shape: &Shape<'_>,
        state: &State<Self::Pending>,
        t: ThreadId,
        step: u32,
    ) -> Option<Loc>;

    /// Takes an internal step. Returns false if the step refutes a guess of the thread: then it is
    /// not enabled, and the contents of `state` are unspecified.
    fn perform_internal_step(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Self::Pending>,
        t: ThreadId,
        step: u32,
        recorder: &mut dyn EventRecorder,
    ) -> Result<bool, StepFailure>;

    /// After a step of the thread has failed: removes what has failed from its pending statements, so
    /// that the accesses before it can be completed. Returns false if a guess is wrong.
    fn ignore_failures(
        &self,
        _: &Shape<'_>,
        _: &mut State<Self::Pending>,
        _: ThreadId,
        _: &mut dyn EventRecorder,
    ) -> bool {
        true
    }

    /// Returns whether nothing is pending for the thread.
    fn has_no_pending_access(&self, pending: &Self::Pending, t: ThreadId) -> bool;

    /// Returns whether nothing is pending for the thread, on behalf of a step that waits for this.
    /// A model whose states represent sets of concrete states removes the states that must wait.
    fn is_drained(&self, pending: &mut Self::Pending, t: ThreadId) -> bool {
        self.has_no_pending_access(pending, t)
    }

    /// Returns whether the thread has no pending access that may be to this record cell (numbered
    /// over all pools). Restricts `pending` in the same way as [`Self::is_drained`].
    fn has_no_pending_access_to(
        &self,
        shape: &Shape<'_>,
        pending: &mut Self::Pending,
        t: ThreadId,
        cell: usize,
    ) -> bool;

    /// Returns whether the thread may allocate or free records now. The answer is no if the model
    /// keeps a pending access in order with such an effect, for example a load with later stores.
    fn may_allocate(&self, _: &Shape<'_>, _: &Self::Pending, _: ThreadId) -> bool {
        true
    }

    /// Returns whether a pending access of the thread may load the location, and whether one may
    /// store to it.
    fn pending_accesses_to(
        &self,
        shape: &Shape<'_>,
        pending: &Self::Pending,
        t: ThreadId,
        loc: Loc,
    ) -> Access;

    /// Returns whether another thread may free the record of the location before a step of `t`.
    #[inline]
    fn others_may_free(
        &self,
        shape: &Shape<'_>,
        state: &State<Self::Pending>,
        t: ThreadId,
        loc: Loc,
    ) -> bool {
        shape.is_freeable(loc)
            && shape.program().thread_ids().any(|other| {
                let pc = state.pcs[other.index()];
                other != t
                    && shape.thread(other).may_free[pc.index()]
                    && !shape.waits_for(&state.memory.values, (other, pc), t)
            })
    }

    /// Returns whether another thread may store to the location or free it before a step of `t`.
    #[inline]
    fn others_may_store(
        &self,
        shape: &Shape<'_>,
        state: &State<Self::Pending>,
        t: ThreadId,
        loc: Loc,
    ) -> bool {
        self.others_may_free(shape, state, t, loc)
            || shape.others(t, shape.writers[loc.index()]).any(|other| {
                let pc = state.pcs[other.index()];
                shape.thread(other).future_accesses.stores(pc, loc)
                    && !shape.waits_for(&state.memory.values, (other, pc), t)
                    || self.pending_accesses_to(shape, &state.pending, other, loc).stores
            })
    }

    /// Returns whether another thread may access the location before a step of `t`, or a property
    /// observes it before the end.
    #[inline]
    fn others_may_access(
        &self,
        shape: &Shape<'_>,
        state: &State<Self::Pending>,
        t: ThreadId,
        loc: Loc,
    ) -> bool {
        let who = shape.readers[loc.index()] | shape.writers[loc.index()];
        shape.in_invariant[loc.index()]
            || self.others_may_free(shape, state, t, loc)
            || shape.others(t, who).any(|other| {
                let (future_accesses, pc) =
                    (&shape.thread(other).future_accesses, state.pcs[other.index()]);
                let pending = || self.pending_accesses_to(shape, &state.pending, other, loc);
                (future_accesses.stores(pc, loc) || future_accesses.loads(pc, loc))
                    && !shape.waits_for(&state.memory.values, (other, pc), t)
                    || pending() != Access { loads: false, stores: false }
            })
    }

    /// Returns whether a condition on the accesses of other threads holds.
    #[inline]
    fn holds(
        &self,
        shape: &Shape<'_>,
        state: &State<Self::Pending>,
        t: ThreadId,
        condition: Condition,
    ) -> bool {
        match condition {
            Condition::Always => true,
            Condition::Never => false,
            Condition::NoFree(loc) => !self.others_may_free(shape, state, t, loc),
            Condition::NoStore(loc) => !self.others_may_store(shape, state, t, loc),
            Condition::NoAccess(loc) => !self.others_may_access(shape, state, t, loc),
        }
    }

    /// Returns when issuing the operation now commutes with everything that other threads can do
    /// before it and with the internal steps of this thread. [`Condition::Never`] is always sound.
    fn issue_commutes(
        &self,
        _: &Shape<'_>,
        _: &State<Self::Pending>,
        _: ThreadId,
        _: Pc,
    ) -> Condition {
        Condition::Never
    }

    /// Returns when an internal step commutes, if the model [has tables](Self::has_tables).
    fn internal_condition(
        &self,
        _: &Shape<'_>,
        _: &State<Self::Pending>,
        _: ThreadId,
        _: u32,
    ) -> Condition {
        Condition::Never
    }

    /// Returns whether an internal step commutes, in the sense of [`Self::issue_commutes`].
    fn internal_commutes(
        &self,
        _: &Shape<'_>,
        _: &State<Self::Pending>,
        _: ThreadId,
        _: u32,
    ) -> bool {
        false
    }

    /// Returns the internal step that performs the newest pending access, if it commutes
    /// ([`Self::internal_commutes`]). `None` is always sound.
    fn prompt_step(&self, _: &Shape<'_>, _: &State<Self::Pending>, _: ThreadId) -> Option<u32> {
        None
    }

    /// Appends the locations that a step of the thread may access now in memory. A missing location
    /// is always sound.
    fn racing_locations(
        &self,
        _: &Shape<'_>,
        _: &State<Self::Pending>,
        _: ThreadId,
        _: &mut Vec<Loc>,
    ) {
    }

    /// Returns a step of the thread that accesses the location in memory now, such that the thread
    /// does not access the location in memory before this step, whatever other steps it takes.
    /// `None` is always sound.
    fn racing_step(
        &self,
        _: &Shape<'_>,
        _: &State<Self::Pending>,
        _: ThreadId,
        _: Loc,
    ) -> Option<RacingStep> {
        None
    }

    /// Copies the pending accesses of one thread from `from` to a thread with the same code of `to`.
    /// `store` renames each pending store: its location and its value. Returns false if the model does
    /// not support this.
    fn rename_pending(
        &self,
        _: &Shape<'_>,
        _from: (&Self::Pending, ThreadId),
        _to: (&mut Self::Pending, ThreadId),
        _store: &dyn Fn(Loc, Value) -> (Loc, Value),
    ) -> bool {
        false
    }

    /// Calls `visit` with each pending store of a thread, if the model
    /// [supports](Self::rename_pending) renaming: with its position, location and value. The positions
    /// are those in the order that the model keeps.
    fn visit_pending_stores(
        &self,
        _: &Shape<'_>,
        _: &Self::Pending,
        _: ThreadId,
        _visit: &mut dyn FnMut(usize, Loc, Value),
    ) {
    }

    /// Copies the pending accesses of one thread from `from` to `to`.
    fn copy_thread(&self, from: &Self::Pending, to: &mut Self::Pending, t: ThreadId);

    /// Packs the pending accesses of one thread.
    fn encode(&self, shape: &Shape<'_>, pending: &Self::Pending, t: ThreadId, writer: &mut Writer);

    /// Returns the number of bits of the packed pending accesses of one thread, which begin at `bit`,
    /// if the model [has tables](Self::has_tables).
    fn pending_bits(&self, _: &Shape<'_>, _: &[u8], _bit: usize, _: ThreadId) -> usize {
        unreachable!("only models with tables have packed pending accesses of a known length")
    }

    /// Unpacks the pending accesses of one thread.
    fn decode(
        &self,
        shape: &Shape<'_>,
        reader: &mut Reader<'_>,
        pending: &mut Self::Pending,
        t: ThreadId,
    );
}

/// An abstract model: its pending accesses can cover each other. One state covers another if the
/// pending accesses of each thread do. Two states have a join if those of each thread have one.
pub trait Covering: MemoryModel {
    /// Packs the part of one thread's pending accesses that is equal in all comparable states: what
    /// the thread sees of its own accesses.
    fn encode_key(
        &self,
        shape: &Shape<'_>,
        pending: &Self::Pending,
        t: ThreadId,
        writer: &mut Writer,
    );

    /// Returns whether the pending accesses of a thread in `big` cover those in `small`: they
    /// represent everything that those in `small` represent. Their keys are equal.
    fn covers(&self, big: &Self::Pending, small: &Self::Pending, t: ThreadId) -> bool;

    /// Returns whether the domain joins the pending accesses of a thread. Their keys are equal.
    fn may_join(&self, one: &Self::Pending, other: &Self::Pending, t: ThreadId) -> bool;

    /// Extends the pending accesses of a thread in `into` so that they cover those in `from`. The
    /// domain [joins](Self::may_join) them.
    fn join(&self, into: &mut Self::Pending, from: &Self::Pending, t: ThreadId);
}
