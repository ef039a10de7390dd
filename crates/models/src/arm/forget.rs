//! Forgetting: an over-approximation with windows of bounded length.
//!
//! If a window is full, the thread forgets something about its pending statements, so that it can
//! fetch the next one. A search of this model that is exhaustive and finds no violation proves a
//! program for windows of any length. The idea of stores that may be committed again and again is
//! that of \[KVY11\] for store buffers.
//!
//! Direction: over. Every run of the exact model has a run here with the same memory, the same
//! registers and the same control. What is forgotten only restricts runs:
//!
//! - *A guess* of a branch or an assumption. The thread continues even if the guess is wrong.
//! - *A pending load* whose value is not used, an unused assignment, and a fence for stores. Nothing
//!   waits for them any more.
//! - *A write*, if there is a later pending write to the same location. The later one then also
//!   stands for the forgotten one: until it is performed, the value of the forgotten write may be
//!   committed at any time and any number of times. So each exact run performs the forgotten write as
//!   such a commit. A later read takes its value from the later write. There must be no pending read
//!   between the two, which would take the value of the earlier one, and no guess about accesses and
//!   no read-modify-write of the location, because an earlier pending write makes a hold ineffective.
//!
//! What can fail is never forgotten: assertions, conditions and assignments that may fault, loads
//! whose address may fault. If nothing can be forgotten, the bound is reached.
//!
//! Redundant writes ([`super::redundant`]) stay in the window of this model: that a write waits for
//! nothing more than another one could be true only because something was forgotten.

use super::Arm;
use super::facts::{self, Facts};
use super::perform::event;
use crate::address::check_limits;
use crate::event::{EventKind, EventRecorder};
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::state::State;
use crate::window::{Note, Window};
use fencepost_ir::{BinOp, Expr, Loc, Op, Reg, ThreadId, UnOp, Value};

impl Arm {
    /// Forgets something about the window of a thread. Returns false if nothing can be forgotten.
    pub(super) fn forget(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
    ) -> bool {
        let window = &mut state.pending[t.index()];
        let facts = facts::facts(shape, t, window);
        let entries = 0..facts.len();
        let forgotten = entries
            .clone()
            .find(|entry| is_safe_guess(shape, t, window, *entry))
            .or_else(|| {
                entries.clone().find(|entry| self.is_unused(shape, t, window, &facts, *entry))
            })
            .or_else(|| {
                let (earlier, later, value) = self.overwritten(shape, t, window, &facts)?;
                let notes = window.notes(earlier).chain([Note::Earlier(value)]);
                for note in notes.collect::<Vec<_>>() {
                    if !window.has(later, note) {
                        window.add_note(later, note);
                    }
                }
                Some(earlier)
            })
            .or_else(|| entries.clone().find(|entry| facts[*entry].is_store_fence));
        let Some(entry) = forgotten else { return false };
        let registers = &mut state.registers[shape.thread(t).registers..];
        window.remove(shape, t, entry, 0, registers);
        true
    }

    /// Returns the number of values of forgotten writes for which a write stands, if they may be
    /// committed now.
    pub(super) fn earlier_values(
        &self,
        shape: &Shape<'_>,
        pending: &[Window],
        t: ThreadId,
        facts: &[Facts],
        entry: usize,
    ) -> u32 {
        let Some(Ok(loc)) = facts[entry].location else { return 0 };
        let values = values(&pending[t.index()], entry).count() as u32;
        let is_possible = values > 0
            && !self.mutated.is(Mutation::ForgetsWrites)
            && !self.others_hold(shape, pending, t, loc);
        if is_possible { values } else { 0 }
    }

    /// Commits the value of a forgotten write. The entry that stands for it stays in the window.
    pub(super) fn commit_forgotten_write(
        &self,
        shape: &Shape<'_>,
        state: &mut State<Vec<Window>>,
        t: ThreadId,
        (entry, number): (usize, u32),
        recorder: &mut dyn EventRecorder,
    ) {
        let window = &state.pending[t.index()];
        let loc = window.location(shape, t, entry).and_then(Result::ok);
        let loc = loc.expect("the entry has a location");
        let value = values(window, entry).nth(number as usize).expect("the entry has the value");
        let kind = EventKind::CommitAndKeep { loc, value };
        recorder.record_with(|| event(shape, t, window, entry, kind));
        state.memory.values[loc.index()] = value;
    }

    /// Returns whether nothing uses the value of an entry, and the entry cannot fail.
    fn is_unused(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        facts: &[Facts],
        entry: usize,
    ) -> bool {
        if window.is_used(entry) || window.notes(entry).next().is_some() {
            return false;
        }
        let fact = &facts[entry];
        match &shape.stmt(t, fact.pc).op {
            Op::Load { .. } => {
                let thread = shape.thread(t);
                let is_unused =
                    |loc: &Loc| window.is_unused_load(shape, t, entry, *loc, self.mutated);
                !fact.order.exclusive
                    && thread.has_safe_address[fact.pc.index()]
                    && thread.footprints[fact.pc.index()].iter().all(is_unused)
            }
            Op::Assign { expr, .. } => yields_truth(expr),
            Op::Skip
            | Op::Choose { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => false,
        }
    }

    /// Returns two pending writes to the same location, such that the earlier one can be forgotten, and
    /// the value of the earlier one.
    fn overwritten(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        facts: &[Facts],
    ) -> Option<(usize, usize, Value)> {
        let is_forgotten =
            |entry: usize| window.notes(entry).all(|note| matches!(note, Note::Earlier(_)));
        if !(0..facts.len()).all(is_forgotten) {
            return None;
        }
        let written = |entry: usize| -> Option<(Loc, Value)> {
            let fact = &facts[entry];
            let is_plain = fact.writes
                && !fact.is_update
                && !fact.order.exclusive
                && !fact.order.release
                && fact.is_ready;
            let Some(Ok(loc)) = fact.location.filter(|_| is_plain) else { return None };
            let value = facts::written_value(shape, t, window, fact, entry, loc)?;
            let may_fail = shape.is_freeable(loc)
                || check_limits(shape.location_limits[loc.index()], value).is_err();
            let is_held = |other: usize| {
                (facts[other].is_update || facts[other].order.exclusive)
                    && facts::may_be_at(shape, t, window, facts, other, loc)
            };
            (!may_fail && !(0..facts.len()).any(is_held)).then_some((loc, value))
        };
        let is_read = |entry: usize, loc: Loc| {
            facts[entry].reads
                && facts::may_be_at(shape, t, window, facts, entry, loc)
                && !self.mutated.is(Mutation::ForgetsReadWrites)
        };
        for earlier in 0..facts.len() {
            let Some((loc, value)) = written(earlier) else { continue };
            let later = (earlier + 1..facts.len())
                .take_while(|entry| !is_read(*entry, loc))
                .find(|entry| written(*entry).is_some_and(|(other, _)| other == loc));
            let has_space = |later: usize| {
                let all = values(window, earlier).chain(values(window, later));
                all.count() < MAX_EARLIER_VALUES
            };
            if let Some(later) = later.filter(|later| has_space(*later)) {
                return Some((earlier, later, value));
            }
        }
        None
    }
}

/// The maximal number of values of forgotten writes for which an entry stands.
const MAX_EARLIER_VALUES: usize = 8;

/// Returns the values of forgotten writes for which a write stands.
fn values(window: &Window, entry: usize) -> impl Iterator<Item = Value> + '_ {
    window.notes(entry).filter_map(|note| match note {
        Note::Earlier(value) => Some(value),
        Note::ReadDone(_)
        | Note::Performed
        | Note::TakenFrom(_)
        | Note::Selects(_)
        | Note::WritesNothing
        | Note::Succeeds
        | Note::NotAt(_)
        | Note::At(_)
        | Note::Failed(_) => None,
    })
}

/// Returns whether an entry is a guess whose condition cannot fault.
fn is_safe_guess(shape: &Shape<'_>, t: ThreadId, window: &Window, entry: usize) -> bool {
    let (Op::Branch { cond, .. } | Op::Assume(cond)) = &shape.stmt(t, window.pc(entry)).op else {
        return false;
    };
    facts::is_marked(window, entry) && cannot_fault(cond)
}

/// Returns whether the evaluation of an expression cannot fault, for all values of its registers.
fn cannot_fault(expr: &Expr<Reg>) -> bool {
    match expr {
        Expr::Const(_) | Expr::Var(_) => true,
        Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => yields_truth(expr),
    }
}

/// Returns whether an expression yields 0 or 1 and cannot fault: a comparison, or logic of such.
fn yields_truth(expr: &Expr<Reg>) -> bool {
    match expr {
        Expr::Unary(UnOp::Not, inner) => cannot_fault(inner),
        Expr::Binary(
            BinOp::Eq
            | BinOp::Ne
            | BinOp::Lt
            | BinOp::Le
            | BinOp::Gt
            | BinOp::Ge
            | BinOp::And
            | BinOp::Or,
            a,
            b,
        ) => cannot_fault(a) && cannot_fault(b),
        Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => {
            false
        }
    }
}
