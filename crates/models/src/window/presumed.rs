//! Presumed values: values that rely on an unresolved guess, whether a comparison succeeds or which
//! operand is selected.
//!
//! An entry whose result is presumed keeps its place as a producer: operands and registers still
//! name it. So whatever depends on a presumed value is not ready, and waits for the guess unless a
//! rule of the model asks for the presumed value. When the guess is resolved, the value becomes an
//! ordinary one.

use super::operands::{address_exprs, operand};
use super::{Note, Operand, Window};
use crate::address::{check_limits, locate};
use crate::shape::Shape;
use fencepost_ir::{Address, CasResult, Expr, Fault, Loc, Op, Pc, Reg, ThreadId, Update, Value};

impl Window {
    /// Returns the value of an operand, also if it is presumed.
    fn presumed(&self, shape: &Shape<'_>, t: ThreadId, operand: Operand) -> Option<Value> {
        match operand {
            Operand::Value(value) => Some(value),
            Operand::ProducedBy(entry) => self.presumed_result(shape, t, usize::from(entry)),
        }
    }

    /// Returns the result of an entry that names unresolved guesses, if these decide it.
    pub(crate) fn presumed_result(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        entry: usize,
    ) -> Option<Value> {
        if !self.has_open_guesses() {
            return None;
        }
        let op = &shape.stmt(t, self.pc(entry)).op;
        let value = match op {
            Op::Assign { expr, .. } => {
                let expr = self.selected(shape, t, entry).unwrap_or(expr);
                self.presumed_value(shape, t, entry, expr)?.ok()?
            }
            Op::Update { update: Update::Cas { expected, result, .. }, .. }
                if self.has(entry, Note::Succeeds) =>
            {
                let expected = self.presumed_value(shape, t, entry, expected)?.ok()?;
                match result {
                    CasResult::Success => 1,
                    CasResult::Old => expected,
                }
            }
            Op::Update {
                update: Update::Cas { expected, result: CasResult::Success, .. }, ..
            } => {
                let expected = self.presumed_value(shape, t, entry, expected)?.ok()?;
                Value::from(self.value_read(entry)? == expected)
            }
            Op::Load { .. } | Op::Update { .. } => self.value_read(entry)?,
            Op::Skip
            | Op::Choose { .. }
            | Op::Store { .. }
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
            | Op::Halt => return None,
        };
        let reg = op.target()?;
        let thread = shape.thread(t);
        let value = check_limits(thread.register_limits[reg.index()], value).ok()?;
        thread.register_fields[reg.index()].holds(value).then_some(value)
    }

    /// Returns the value of an expression of an entry, also if it is presumed.
    pub(crate) fn presumed_value(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        entry: usize,
        expr: &Expr<Reg>,
    ) -> Option<Result<Value, Fault>> {
        let pc = self.pc(entry);
        self.presumed_of(shape, t, pc, self.operands(shape, t, entry), expr)
    }

    /// Returns the value of an expression with these operands, also if it is presumed.
    pub(crate) fn presumed_of(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        pc: Pc,
        operands: &[Operand],
        expr: &Expr<Reg>,
    ) -> Option<Result<Value, Fault>> {
        let uses = &shape.thread(t).uses[pc.index()];
        eval_once(expr, |reg| self.presumed(shape, t, operand(uses, operands, reg)))
    }

    /// Returns the value that the next statement of the thread would compute, also if it is
    /// presumed.
    pub(crate) fn presumed_next(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        registers: &[Value],
        expr: &Expr<Reg>,
    ) -> Option<Result<Value, Fault>> {
        eval_once(expr, |reg| match self.producer(reg) {
            None => Some(registers[reg.index()]),
            Some(entry) => self.presumed_result(shape, t, entry),
        })
    }

    /// Returns the location of an access whose address is presumed.
    pub(super) fn presumed_location(
        &self,
        shape: &Shape<'_>,
        t: ThreadId,
        (pc, operands): (Pc, &[Operand]),
        address: &Address,
    ) -> Option<Result<Loc, Fault>> {
        if !self.has_open_guesses() {
            return None;
        }
        let is_known = |expr: &Expr<Reg>| self.presumed_of(shape, t, pc, operands, expr).is_some();
        if !address_exprs(address).all(is_known) {
            return None;
        }
        let uses = &shape.thread(t).uses[pc.index()];
        let value = |reg: &Reg| self.presumed(shape, t, operand(uses, operands, *reg));
        Some(locate(shape, address, &|reg| value(reg).unwrap_or_default()))
    }

    /// Returns the operand that a conditional selection selects, if its condition is known, presumed
    /// or guessed. `None` for other statements.
    pub(crate) fn selected<'a>(
        &self,
        shape: &'a Shape<'_>,
        t: ThreadId,
        entry: usize,
    ) -> Option<&'a Expr<Reg>> {
        let (cond, then, otherwise) = selection(shape, t, self.pc(entry))?;
        let holds = match self.presumed_value(shape, t, entry, cond) {
            Some(value) => value.ok()? != 0,
            None => self.notes(entry).find_map(|note| {
                let Note::Selects(first) = note else { return None };
                Some(first)
            })?,
        };
        Some(if holds { then } else { otherwise })
    }

    /// Returns whether a value can be presumed: there is a guess on which it can rely.
    fn has_open_guesses(&self) -> bool {
        let is_open =
            |note: &Note| matches!(note, Note::Succeeds | Note::Selects(_) | Note::TakenFrom(_));
        self.notes.iter().any(|(_, note)| is_open(note))
    }

    /// Returns the value that a performed read had.
    pub(crate) fn value_read(&self, entry: usize) -> Option<Value> {
        self.notes(entry).find_map(|note| {
            let Note::ReadDone(value) = note else { return None };
            Some(value)
        })
    }

    /// Returns whether there is a note about an entry.
    pub(crate) fn has(&self, entry: usize, note: Note) -> bool {
        self.notes(entry).any(|other| other == note)
    }
}

/// Returns the value of an expression, if the values of all its registers are known. Asks once for
/// each register, because a value may be computed from many others.
fn eval_once(
    expr: &Expr<Reg>,
    value: impl Fn(Reg) -> Option<Value>,
) -> Option<Result<Value, Fault>> {
    let mut known: Vec<(Reg, Value)> = Vec::new();
    let mut is_known = true;
    expr.for_each_var(&mut |reg| {
        if is_known && !known.iter().any(|(other, _)| other == reg) {
            match value(*reg) {
                Some(value) => known.push((*reg, value)),
                None => is_known = false,
            }
        }
    });
    let value = |reg: &Reg| known.iter().find(|(other, _)| other == reg).map_or(0, |(_, v)| *v);
    is_known.then(|| expr.eval(&value))
}

/// Returns the condition and the operands of a statement that is a conditional selection.
pub(crate) fn selection<'a>(
    shape: &'a Shape<'_>,
    t: ThreadId,
    pc: Pc,
) -> Option<(&'a Expr<Reg>, &'a Expr<Reg>, &'a Expr<Reg>)> {
    if !shape.thread(t).is_selection[pc.index()] {
        return None;
    }
    let Op::Assign { expr: Expr::Select(cond, then, otherwise), .. } = &shape.stmt(t, pc).op else {
        return None;
    };
    Some((cond, then, otherwise))
}
