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

/// A guess of the direction of a branch, or that an assumption holds.
#[derive(Clone, Copy)]
pub(super) struct Guess<'a> {
    pub(super) pc: Pc,
    pub(super) operands: &'a [Operand],
    pub(super) direction: bool,
}

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

    /// Returns whether the guess of a branch in the window contradicts the guess of a comparison or of
    /// a selection. Then one of the two is wrong.
    pub(super) fn has_contradiction(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
    ) -> bool {
        let contradicts = |guess: Guess<'_>| {
            let Some(cond) = condition(&shape.stmt(t, guess.pc).op) else { return false };
            let presumed = window.presumed_of(shape, t, guess.pc, guess.operands, cond);
            let differs = |value: Value| (value != 0) != guess.direction;
            presumed.is_some_and(|value| value.is_ok_and(differs))
                || self.contradicts_comparison(shape, t, window, guess)
        };
        window.has_notes() && guesses(shape, t, window).any(contradicts)
    }

    /// Returns whether a guess of a branch contradicts the guess of a comparison, while the expected
    /// value is unknown.
    pub(super) fn contradicts_comparison(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        window: &Window,
        Guess { pc, operands, direction }: Guess<'_>,
    ) -> bool {
        if !window.has_notes() {
            return false;
        }
        let Some(cond) = condition(&shape.stmt(t, pc).op) else { return false };
        let Some((a, b, equal)) = equality(shape, t, window, (pc, operands), cond) else {
            return false;
        };
        let contradicts = !self.mutated.is(Mutation::GuessesContradict);
        let is_equal = (direction == equal) == contradicts;
        compares(shape, t, window, a, b, !is_equal) || compares(shape, t, window, b, a, !is_equal)
    }
}

/// Returns the guesses of branches and assumptions in a window.
pub(super) fn guesses<'a>(
    shape: &'a Shape<'_>,
    t: ThreadId,
    window: &'a Window,
) -> impl Iterator<Item = Guess<'a>> {
    (0..window.len()).filter_map(move |entry| {
        let Some(Mark::Guess(direction)) = window.mark(entry) else { return None };
        let (pc, operands) = (window.pc(entry), window.operands(shape, t, entry));
        Some(Guess { pc, operands, direction })
    })
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
pub(super) fn copied(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    mut operand: Operand,
) -> Operand {
    while let Operand::ProducedBy(entry) = operand
        && let entry = usize::from(entry)
        && let Op::Assign { expr: Expr::Var(_), .. } = &shape.stmt(t, window.pc(entry)).op
    {
        operand = window.operands(shape, t, entry)[0];
    }
    operand
}

/// If the condition of an entry compares two operands, perhaps in an earlier assignment, returns
/// them, and whether it holds if they are equal.
fn equality(
    shape: &Shape<'_>,
    t: ThreadId,
    window: &Window,
    (pc, operands): (Pc, &[Operand]),
    cond: &Expr<Reg>,
) -> Option<(Operand, Operand, bool)> {
    let of = |inner: &Expr<Reg>| equality(shape, t, window, (pc, operands), inner);
    let negated = |(a, b, equal): (Operand, Operand, bool)| (a, b, !equal);
    let operand_of = |reg: Reg| operand(&shape.thread(t).uses[pc.index()], operands, reg);
    match cond {
        Expr::Unary(UnOp::Not, inner) => of(inner).map(negated),
        Expr::Binary(op @ (BinOp::Eq | BinOp::Ne), a, b) => match (&**a, &**b) {
            (Expr::Var(a), Expr::Var(b)) => {
                Some((operand_of(*a), operand_of(*b), *op == BinOp::Eq))
            }
            (inner, Expr::Const(0)) if *op == BinOp::Ne => of(inner),
            (inner, Expr::Const(0)) => of(inner).map(negated),
            _ => None,
        },
        Expr::Var(reg) => {
            let Operand::ProducedBy(entry) = copied(shape, t, window, operand_of(*reg)) else {
                return None;
            };
            let entry = usize::from(entry);
            let Op::Assign { expr, .. } = &shape.stmt(t, window.pc(entry)).op else { return None };
            let at = (window.pc(entry), window.operands(shape, t, entry));
            equality(shape, t, window, at, expr)
        }
        Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => None,
    }
}

/// Returns the condition of a branch or an assumption.
pub(super) fn condition(op: &Op) -> Option<&Expr<Reg>> {
    let (Op::Branch { cond, .. } | Op::Assume(cond)) = op else { return None };
    Some(cond)
}
