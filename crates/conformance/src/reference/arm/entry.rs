//! The entries of a window: captured operands, addresses, values, and what is pending.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{
    AccessOrder, Acquire, Address, BinOp, CasResult, Expr, Fault, Loc, Op, Pc, Reg, Update, Value,
};

use super::super::memory::{congruent, resolve_address};
use super::window::Code;

/// A set of entries with unresolved guesses, by key: what a value picks.
pub(super) type Picks = u64;

/// The content of a register: a value and what it picks, or the key of the entry that will produce
/// it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Operand {
    Value(Value, Picks),
    Entry(usize),
}

/// A statement that was fetched and is not complete.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Entry {
    pub(super) pc: Pc,
    /// The registers that the statement reads, as captured when it was fetched.
    pub(super) operands: BTreeMap<Reg, Operand>,
    /// For a branch, `assume`, selection or compare-and-swap: whether the condition holds or the
    /// comparison succeeds, as guessed.
    pub(super) guess: Option<bool>,
    /// The value that was read, if the read is performed.
    pub(super) read: Option<Value>,
    /// What the value that was read picks.
    pub(super) read_picks: Picks,
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
            read_picks: 0,
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
        expr.for_each_var(&mut |reg| {
            is_known &= matches!(self.operands[reg], Operand::Value(..));
        });
        is_known.then(|| {
            expr.eval(&|reg: &Reg| match self.operands[reg] {
                Operand::Value(value, _) => value,
                Operand::Entry(_) => unreachable!("all operands are known"),
            })
        })
    }

    /// Returns what the known registers of an expression pick.
    pub(super) fn picks(&self, expr: &Expr<Reg>) -> Picks {
        let mut all = 0;
        expr.for_each_var(&mut |reg| {
            if let Operand::Value(_, picks) = self.operands[reg] {
                all |= picks;
            }
        });
        all
    }

    /// Returns what the address of an access picks.
    pub(super) fn address_picks(&self, code: Code) -> Picks {
        let Some(address) = self.op(code).address() else { return 0 };
        address_exprs(address).map(|expr| self.picks(expr)).fold(0, |all, picks| all | picks)
    }

    /// Returns whether the entry still waits for guesses that a later write or a later read behind an
    /// `ISB` must not pass: it is a branch or the address of an access that picks them.
    pub(super) fn is_undecided(&self, code: Code) -> bool {
        match self.op(code) {
            Op::Branch { cond, .. } | Op::Assume(cond) => self.picks(cond) != 0,
            _ => self.address_picks(code) != 0,
        }
    }

    /// Returns whether the entry is an acquire read that picks a guess.
    pub(super) fn is_picking_acquire(&self, code: Code) -> bool {
        self.read_picks != 0 && self.order(code).acquire != Acquire::None
    }

    /// Returns the condition and the operands of a conditional selection.
    pub(super) fn selection<'a>(&self, code: Code<'a>) -> Option<[&'a Expr<Reg>; 3]> {
        let stmt = code.thread.stmt(self.pc);
        match &stmt.op {
            Op::Assign { expr: Expr::Select(cond, then, otherwise), .. }
                if code.program.selections.contains(&stmt.label) =>
            {
                Some([cond, then, otherwise])
            }
            _ => None,
        }
    }

    /// Returns what the value that the entry writes picks. `key` is the entry's own key.
    pub(super) fn written_picks(&self, code: Code, key: usize) -> Picks {
        let of_value = match self.op(code) {
            Op::Store { value, .. } => self.picks(value),
            Op::Update { update, .. } => match update {
                Update::Swap { new } => self.picks(new),
                Update::Cas { expected, new, .. } => {
                    let own = if self.truth(code).is_none() { 1 << key } else { 0 };
                    own | self.picks(expected) | self.picks(new) | self.read_picks
                }
                Update::Add { by, .. } | Update::Bits { by, .. } => {
                    self.picks(by) | self.read_picks
                }
            },
            _ => 0,
        };
        of_value | self.address_picks(code)
    }

    /// Returns what the value that the entry gives to its register picks. `key` is the entry's own
    /// key.
    pub(super) fn result_picks(&self, code: Code, key: usize) -> Picks {
        let own = if self.truth(code).is_none() { 1 << key } else { 0 };
        match self.op(code) {
            Op::Assign { expr, .. } => match self.selection(code) {
                None => self.picks(expr),
                Some([cond, then, otherwise]) => {
                    let selected = if self.guess == Some(true) { then } else { otherwise };
                    own | self.picks(cond) | self.picks(selected)
                }
            },
            Op::Load { .. } => self.read_picks,
            Op::Update { update: Update::Cas { expected, result, .. }, .. } => {
                match (self.guess, result) {
                    (Some(true), _) => own | self.picks(expected) | self.read_picks,
                    (_, CasResult::Old) => self.read_picks,
                    (_, CasResult::Success) => self.picks(expected) | self.read_picks,
                }
            }
            Op::Update { .. } => self.read_picks,
            _ => 0,
        }
    }

    /// Returns what the truth of the entry's guess picks.
    pub(super) fn truth_picks(&self, code: Code) -> Picks {
        match self.op(code) {
            Op::Update { update: Update::Cas { expected, .. }, .. } => {
                self.picks(expected) | self.read_picks
            }
            _ => self.selection(code).map_or(0, |[cond, ..]| self.picks(cond)),
        }
    }

    /// Forgets a guess that is resolved. What relied on it now picks what its truth picks.
    pub(super) fn forget(&mut self, guess: usize, instead: Picks) {
        forget(&mut self.read_picks, guess, instead);
        for operand in self.operands.values_mut() {
            operand.forget(guess, instead);
        }
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
        address_exprs(address).all(|expr| self.value(expr).is_some())
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
            Op::Assign { expr, .. } => match self.selection(code) {
                None => self.value(expr),
                Some([_, then, otherwise]) => match self.guess? {
                    true => self.value(then),
                    false => self.value(otherwise),
                },
            },
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
                self.guess?;
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
            _ => {
                let [cond, ..] = self.selection(code)?;
                Some(self.value(cond)?.map(|value| value != 0))
            }
        }
    }
}

impl Operand {
    /// See [`Entry::forget`].
    pub(super) fn forget(&mut self, guess: usize, instead: Picks) {
        if let Operand::Value(_, picks) = self {
            forget(picks, guess, instead);
        }
    }
}

fn forget(picks: &mut Picks, guess: usize, instead: Picks) {
    if *picks & 1 << guess != 0 {
        *picks = *picks & !(1 << guess) | instead;
    }
}

fn address_exprs(address: &Address) -> impl Iterator<Item = &Expr<Reg>> {
    let index = address.index.as_ref().map(|(_, index)| index);
    let pointer = address.pointer.as_ref().map(|pointer| &pointer.value);
    index.into_iter().chain(pointer)
}
