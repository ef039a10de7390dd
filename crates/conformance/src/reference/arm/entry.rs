//! The entries of a window: captured operands, addresses, values, and what is pending.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{
    AccessOrder, Address, BinOp, CasResult, Expr, Fault, Loc, Op, Pc, Reg, Update, Value,
};

use super::super::memory::{congruent, resolve_address};
use super::window::Code;

/// The content of a register: a value, or the key of the entry that will produce it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Operand {
    Value(Value),
    Entry(usize),
}

/// A statement that was fetched and is not complete.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Entry {
    pub(super) pc: Pc,
    /// The registers that the statement reads, as captured when it was fetched.
    pub(super) operands: BTreeMap<Reg, Operand>,
    /// For a branch, `assume` or compare-and-swap: whether the condition holds or the comparison
    /// succeeds, as guessed.
    pub(super) guess: Option<bool>,
    /// The value that was read, if the read is performed.
    pub(super) read: Option<Value>,
    /// Whether the write is performed.
    pub(super) is_written: bool,
    /// Whether the value of the entry was given to everyone who waits for it.
    pub(super) is_delivered: bool,
    /// The locations that the address must not be: guesses of later reads.
    pub(super) elsewhere: BTreeSet<Loc>,
    /// The location that the address must be: a guess of a later read.
    pub(super) same: Option<Loc>,
}

impl Entry {
    pub(super) fn new(pc: Pc, operands: BTreeMap<Reg, Operand>, guess: Option<bool>) -> Entry {
        Entry {
            pc,
            operands,
            guess,
            read: None,
            is_written: false,
            is_delivered: false,
            elsewhere: BTreeSet::new(),
            same: None,
        }
    }

    pub(super) fn op<'a>(&self, code: Code<'a>) -> &'a Op {
        &code.thread.stmt(self.pc).op
    }

    pub(super) fn order(&self, code: Code) -> AccessOrder {
        let label = code.thread.stmt(self.pc).label;
        code.program.orders.get(&label).copied().unwrap_or(AccessOrder::PLAIN)
    }

    /// Returns whether the entry is a branch or `assume`. Such an entry leaves the window when its
    /// condition is known, so its guess is not resolved.
    pub(super) fn is_control(&self, code: Code) -> bool {
        matches!(self.op(code), Op::Branch { .. } | Op::Assume(_))
    }

    pub(super) fn is_update(&self, code: Code) -> bool {
        matches!(self.op(code), Op::Update { .. })
    }

    /// Returns whether the entry is a compare-and-swap.
    pub(super) fn is_comparison(&self, code: Code) -> bool {
        matches!(self.op(code), Op::Update { update: Update::Cas { .. }, .. })
    }

    /// Returns whether the entry is a compare-and-swap that is guessed to succeed, and this is not
    /// known.
    pub(super) fn is_guessed_to_succeed(&self, code: Code) -> bool {
        self.is_comparison(code) && self.guess == Some(true) && self.truth(code).is_none()
    }

    /// Returns whether the entry is an exclusive load.
    pub(super) fn is_reservation(&self, code: Code) -> bool {
        matches!(self.op(code), Op::Load { .. }) && self.order(code).exclusive
    }

    /// Returns whether the entry reads memory.
    pub(super) fn reads(&self, code: Code) -> bool {
        matches!(self.op(code), Op::Load { .. } | Op::Update { .. })
    }

    /// Returns whether the entry writes memory. A compare-and-swap that is guessed to fail does
    /// not.
    pub(super) fn writes(&self, code: Code) -> bool {
        match self.op(code) {
            Op::Store { .. } => true,
            Op::Update { .. } => self.guess != Some(false),
            _ => false,
        }
    }

    pub(super) fn has_pending_read(&self, code: Code) -> bool {
        self.reads(code) && self.read.is_none()
    }

    pub(super) fn has_pending_write(&self, code: Code) -> bool {
        self.writes(code) && !self.is_written
    }

    pub(super) fn is_pending(&self, code: Code) -> bool {
        self.has_pending_read(code) || self.has_pending_write(code)
    }

    /// Returns the value of an expression, if every register that it reads is known.
    pub(super) fn value(&self, expr: &Expr<Reg>) -> Option<Result<Value, Fault>> {
        let mut is_known = true;
        expr.for_each_var(&mut |reg| is_known &= matches!(self.operands[reg], Operand::Value(_)));
        is_known.then(|| {
            expr.eval(&|reg: &Reg| match self.operands[reg] {
                Operand::Value(value) => value,
                Operand::Entry(_) => unreachable!("all operands are known"),
            })
        })
    }

    /// Returns the location of an access, if its address is known.
    pub(super) fn location(&self, code: Code) -> Option<Result<Loc, Fault>> {
        let address = self.op(code).address()?;
        self.knows_address(address).then(|| {
            let value = |expr: &Expr<Reg>| self.value(expr).unwrap_or(Err(Fault::InvalidPointer));
            resolve_address(code.program, address, &value)
        })
    }

    fn knows_address(&self, address: &Address) -> bool {
        let index = address.index.as_ref().map(|(_, index)| index);
        let pointer = address.pointer.as_ref().map(|pointer| &pointer.value);
        index.into_iter().chain(pointer).all(|expr| self.value(expr).is_some())
    }

    /// Returns whether the entry is an access whose address is not known.
    pub(super) fn has_unknown_address(&self, code: Code) -> bool {
        self.op(code).address().is_some() && self.location(code).is_none()
    }

    /// Returns whether the entry is an access whose address is known to be this location.
    pub(super) fn is_at(&self, code: Code, loc: Loc) -> bool {
        self.location(code) == Some(Ok(loc))
    }

    /// Returns the value that the entry writes, if it is known. The value of an update other than a
    /// swap is known after its read.
    pub(super) fn written_value(&self, code: Code) -> Option<Result<Value, Fault>> {
        match self.op(code) {
            Op::Store { value, .. } => self.value(value),
            Op::Update { update, .. } => match update {
                Update::Swap { new } => self.value(new),
                Update::Cas { new, .. } if self.guess == Some(true) => self.value(new),
                Update::Cas { .. } => None,
                Update::Add { by, wrap } => {
                    let (by, old) = (self.value(by)?, self.read?);
                    Some(by.and_then(|by| match wrap {
                        None => BinOp::Add.apply(old, by),
                        Some(range) => Ok(congruent(i128::from(old) + i128::from(by), *range)),
                    }))
                }
                Update::Bits { op, by } => {
                    let (by, old) = (self.value(by)?, self.read?);
                    Some(by.and_then(|by| op.apply(old, by)))
                }
            },
            _ => None,
        }
    }

    /// Returns the value that the entry gives to its register, if it is known.
    pub(super) fn result(&self, code: Code) -> Option<Result<Value, Fault>> {
        match self.op(code) {
            Op::Assign { expr, .. } => self.value(expr),
            Op::Load { .. } => self.read.map(Ok),
            Op::Update { update: Update::Cas { expected, result, .. }, .. } => {
                if self.guess == Some(true) {
                    let expected = self.value(expected)?;
                    return Some(match result {
                        CasResult::Old => expected,
                        CasResult::Success => expected.map(|_| 1),
                    });
                }
                let old = self.read?;
                match result {
                    CasResult::Old => Some(Ok(old)),
                    CasResult::Success => {
                        let expected = self.value(expected)?;
                        Some(expected.map(|expected| Value::from(expected == old)))
                    }
                }
            }
            Op::Update { .. } => self.read.map(Ok),
            _ => None,
        }
    }

    /// Returns the truth of what was guessed, if it is known: the condition of a branch, the
    /// comparison of a compare-and-swap.
    pub(super) fn truth(&self, code: Code) -> Option<Result<bool, Fault>> {
        match self.op(code) {
            Op::Branch { cond, .. } | Op::Assume(cond) | Op::Assert(cond) => {
                Some(self.value(cond)?.map(|value| value != 0))
            }
            Op::Update { update: Update::Cas { expected, .. }, .. } => {
                let (expected, old) = (self.value(expected)?, self.read?);
                Some(expected.map(|expected| expected == old))
            }
            _ => None,
        }
    }
}
