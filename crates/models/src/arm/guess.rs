//! Guesses whether a comparison succeeds, before its read is performed, and which operand is
//! selected, before the condition is known; and repeated guesses of branches.
//!
//! A guess that has the same condition and the same operands as an unresolved guess is resolved
//! together with it, by the same values. So it must have the same direction, and needs no entry.
//!
//! A guess whether the result of a compare-and-swap is its expected value is also a guess whether the
//! comparison succeeds. Both must agree. Without this rule, a thread that retries in a loop takes the
//! value of a comparison that is guessed to fail and to succeed.

use super::Arm;
use super::facts::{self, Facts};
use crate::mutation::Mutation;
use crate::shape::Shape;
use crate::window::operands::operand;
use crate::window::presumed::selection;
use crate::window::{Mark, Note, Operand, Window};
use fencepost_ir::{Acquire, BinOp, CasResult, Expr, Op, Pc, Reg, ThreadId, UnOp, Update, Value};

impl Arm {
    /// Returns whether it matters now that an update whose read is pending writes nothing: a later
    /// entry waits for its write.
    pub(super) fn may_guess_failure(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        facts: &[Facts],
        entry: usize,
    ) -> bool {
        let fact = &facts[entry];
        facts::is_comparison(shape, t, fact)
            && fact.writes
            && facts[entry + 1..].iter().any(|later| {
                later.is_store_fence
                    || fact.order.release && later.reads && later.order.acquire == Acquire::Strong
            })
    }

    /// Returns whether it matters now that the comparison of an update whose read is pending
    /// succeeds: a later entry waits for its result, or reads what it writes. Nothing is fetched
    /// behind an acquire read.
    pub(super) fn may_guess_success(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        facts: &[Facts],
        entry: usize,
    ) -> bool {
        let fact = &facts[entry];
        if !facts::is_comparison(shape, t, fact)
            || fact.order.acquire != Acquire::None
            || window.notes(entry).any(|note| !matches!(note, Note::NotAt(_)))
        {
            return false;
        }
        let Some(Ok(loc)) = fact.location else { return window.is_used(entry) };
        let is_read_at = |later: usize| {
            facts[later].reads && facts::may_be_at(shape, t, window, facts, later, loc)
        };
        window.is_used(entry) || (entry + 1..facts.len()).any(is_read_at)
    }

    /// Returns whether it matters now that a selection selects its first or its second operand: its
    /// condition is unknown, its result is used, and that operand is known.
    pub(super) fn may_guess_selection(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        entry: usize,
        first: bool,
    ) -> bool {
        let Some((_, then, otherwise)) = selection(shape, t, window.pc(entry)) else {
            return false;
        };
        let operand = if first { then } else { otherwise };
        !self.mutated.is(Mutation::SelectionsWait)
            && window.is_used(entry)
            && window.selected(shape, t, entry).is_none()
            && window.presumed_value(shape, t, entry, operand).is_some()
    }

    /// Returns the direction of an unresolved guess with the same condition as the statement at
    /// `pc`, a branch or assumption, and with the same operands.
    pub(super) fn repeated_guess(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        pc: Pc,
        registers: &[Value],
    ) -> Option<bool> {
        let condition = condition(&shape.stmt(t, pc).op)?;
        let uses = &shape.thread(t).uses[pc.index()];
        let is_same = |entry: &usize| {
            let earlier = window.pc(*entry);
            self::condition(&shape.stmt(t, earlier).op) == Some(condition)
                && shape.thread(t).uses[earlier.index()] == *uses
                && window
                    .next_operands(uses, registers)
                    .eq(window.operands(shape, t, *entry).iter().copied())
        };
        let entry = (0..window.len()).find(is_same)?;
        let Some(Mark::Guess(direction)) = window.mark(entry) else { return None };
        Some(direction != self.mutated.is(Mutation::RepeatedGuessesDiffer))
    }

    /// Returns whether the guess of a branch in the window contradicts the guess of a comparison.
    pub(super) fn has_contradiction(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
    ) -> bool {
        window.has_notes()
            && (0..window.len()).any(|entry| {
                let Some(Mark::Guess(direction)) = window.mark(entry) else { return false };
                let branch = (window.pc(entry), window.operands(shape, t, entry));
                self.contradicts_comparison(shape, t, window, branch, direction)
            })
    }

    /// Returns whether a direction of a branch with these operands contradicts the guess of a
    /// comparison, while the expected value is unknown.
    pub(super) fn contradicts_comparison(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        (pc, operands): (Pc, &[Operand]),
        direction: bool,
    ) -> bool {
        let Some((a, b, equal)) = condition(&shape.stmt(t, pc).op).and_then(equality) else {
            return false;
        };
        let uses = &shape.thread(t).uses[pc.index()];
        let (a, b) = (operand(uses, operands, a), operand(uses, operands, b));
        let contradicts = !self.mutated.is(Mutation::GuessesContradict);
        let is_equal = (direction == equal) == contradicts;
        compares(shape, t, window, a, b, !is_equal) || compares(shape, t, window, b, a, !is_equal)
    }
}

/// Returns whether `result` is the result of a compare-and-swap that is guessed to succeed or to
/// fail, and `expected` is its expected value, which is unknown.
fn compares(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    result: Operand,
    expected: Operand,
    succeeds: bool,
) -> bool {
    let (Operand::ProducedBy(cas), Operand::ProducedBy(_)) = (result, expected) else {
        return false;
    };
    let cas = usize::from(cas);
    let pc = window.pc(cas);
    let Op::Update { update: Update::Cas { expected: Expr::Var(reg), result, .. }, .. } =
        &shape.stmt(t, pc).op
    else {
        return false;
    };
    let uses = &shape.thread(t).uses[pc.index()];
    let note = if succeeds { Note::Succeeds } else { Note::WritesNothing };
    let compared = operand(uses, window.operands(shape, t, cas), *reg);
    *result == CasResult::Old
        && copied(shape, t, window, compared) == copied(shape, t, window, expected)
        && window.has(cas, note)
}

/// Returns the operand of which an operand is a copy.
fn copied(shape: &Shape<'_>, t: ThreadId, window: &Window, mut operand: Operand) -> Operand {
    while let Operand::ProducedBy(entry) = operand
        && let entry = usize::from(entry)
        && let Op::Assign { expr: Expr::Var(_), .. } = &shape.stmt(t, window.pc(entry)).op
    {
        operand = window.operands(shape, t, entry)[0];
    }
    operand
}

/// If a condition compares two registers, returns them, and whether it holds if they are equal.
fn equality(cond: &Expr<Reg>) -> Option<(Reg, Reg, bool)> {
    if let Expr::Unary(UnOp::Not, inner) = cond {
        return equality(inner).map(|(a, b, equal)| (a, b, !equal));
    }
    let Expr::Binary(op @ (BinOp::Eq | BinOp::Ne), a, b) = cond else { return None };
    let (Expr::Var(a), Expr::Var(b)) = (&**a, &**b) else { return None };
    Some((*a, *b, *op == BinOp::Eq))
}

/// Returns the condition of a branch or an assumption.
fn condition(op: &Op) -> Option<&Expr<Reg>> {
    let (Op::Branch { cond, .. } | Op::Assume(cond)) = op else { return None };
    Some(cond)
}
