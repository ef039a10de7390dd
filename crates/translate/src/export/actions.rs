//! Describes the statements of a lowered program as conditions and assignments over the state.
//! Checks, guards and printers work on this form. Only this module interprets operations.
//!
//! An [`Action`] states the effect of one statement on registers and memory. Its values refer to
//! the state before the statement, as a [`StateView`] shows it. The view is the unchanged state
//! with values in place of some registers ([`Env`]), or the state inside an atomic block
//! ([`guards`](super::guards)). [`checks`](super::checks) computes the condition under which an
//! action does not fault.

use super::substitute::substitute;
use fencepost_ir::{Address, BinOp, CasResult, Expr, Loc, Op, Pc, Reg, Update, Value};
use std::collections::BTreeMap;

/// A leaf of an expression over the state, from the view of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Leaf {
    /// A register of the thread.
    Reg(Reg),
    /// A location.
    Loc(Loc),
    /// An element of an array: the first location, the length, the index.
    Element(Loc, u32, Box<Expr<Leaf>>),
}

impl Leaf {
    /// Returns the locations that the leaf may denote: the first one and their number; `None` for a
    /// register.
    pub fn location_range(&self) -> Option<(Loc, u32)> {
        match self {
            Leaf::Reg(_) => None,
            Leaf::Loc(loc) => Some((*loc, 1)),
            Leaf::Element(base, len, _) => Some((*base, *len)),
        }
    }

    /// Returns the locations that the leaf may denote.
    pub fn locations(&self) -> impl Iterator<Item = Loc> + use<> {
        let (base, len) = self.location_range().unwrap_or((Loc(0), 0));
        (base.0..base.0 + len).map(Loc)
    }
}

/// The state as a statement sees it.
pub trait StateView {
    /// Returns the value of an expression.
    fn value(&self, expr: &Expr<Reg>) -> Expr<Leaf>;
    /// Returns the place of an address.
    fn place(&self, at: &Address) -> Leaf;
    /// Returns the value at an address.
    fn read(&self, at: &Address) -> Expr<Leaf>;
}

/// The unchanged state, except for some registers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Env {
    /// The values that replace registers.
    pub registers: BTreeMap<Reg, Expr<Leaf>>,
}

impl StateView for Env {
    fn value(&self, expr: &Expr<Reg>) -> Expr<Leaf> {
        let leaf =
            |reg: &Reg| self.registers.get(reg).cloned().unwrap_or(Expr::Var(Leaf::Reg(*reg)));
        substitute(expr, &leaf).fold()
    }

    fn place(&self, at: &Address) -> Leaf {
        let Some((len, index)) = &at.index else { return Leaf::Loc(at.base) };
        let index = self.value(index);
        match index.as_const() {
            Some(element) if element >= 0 && element < *len as Value => {
                Leaf::Loc(Loc(at.base.0 + element as u32))
            }
            _ => Leaf::Element(at.base, *len, Box::new(index)),
        }
    }

    fn read(&self, at: &Address) -> Expr<Leaf> {
        Expr::Var(self.place(at))
    }
}

/// The effect of a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// No effect under SC, except on control flow.
    Nothing,
    /// Orders accesses. No effect under SC.
    Fence,
    /// Sets a register to a computed value.
    Assign {
        /// The register.
        reg: Reg,
        /// The value.
        value: Expr<Leaf>,
    },
    /// Sets a register to the value at a place in memory.
    Load {
        /// The register.
        reg: Reg,
        /// The place that is read.
        from: Leaf,
        /// The value that is read.
        value: Expr<Leaf>,
    },
    /// Writes a value to memory.
    Store {
        /// The place that is written.
        to: Leaf,
        /// The value.
        value: Expr<Leaf>,
    },
    /// Reads and writes memory in one step.
    Update(UpdateAction),
    /// Sets a register to any value of a range.
    Choose {
        /// The register.
        reg: Reg,
        /// The smallest value.
        lo: Value,
        /// The largest value.
        hi: Value,
    },
    /// Has no effect under SC, but has an address that may fault.
    Drain(Leaf),
    /// Branches to one of two statements.
    Branch {
        /// The condition.
        cond: Expr<Leaf>,
        /// The next statement if the condition holds.
        then: Pc,
        /// The next statement if the condition does not hold.
        otherwise: Pc,
    },
    /// Blocks until the condition holds: the guard of the step.
    Assume(Expr<Leaf>),
    /// Fails unless the condition holds.
    Assert(Expr<Leaf>),
}

/// The effect of an update.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UpdateAction {
    /// The register that receives the result, if any.
    pub reg: Option<Reg>,
    /// The place that is updated.
    pub at: Leaf,
    /// The value before the update.
    pub old: Expr<Leaf>,
    /// The kind of the update.
    pub kind: UpdateKind,
    /// The operand. For a CAS: the new value.
    pub operand: Expr<Leaf>,
}

/// The kind of an update.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UpdateKind {
    /// CAS: writes only if the old value equals this one.
    Cas(Expr<Leaf>, CasResult),
    /// Writes the operand.
    Swap,
    /// Writes the result of the operator, applied to the old value and the operand.
    Apply(BinOp),
}

impl UpdateAction {
    /// Returns the value that the update writes, if it writes.
    pub fn new_value(&self) -> Expr<Leaf> {
        match &self.kind {
            UpdateKind::Cas(..) | UpdateKind::Swap => self.operand.clone(),
            UpdateKind::Apply(op) => {
                Expr::Binary(*op, Box::new(self.old.clone()), Box::new(self.operand.clone())).fold()
            }
        }
    }

    /// Returns the condition under which a CAS writes; `None` for other updates.
    pub fn succeeds(&self) -> Option<Expr<Leaf>> {
        match &self.kind {
            UpdateKind::Cas(expected, _) => {
                let (old, expected) = (Box::new(self.old.clone()), Box::new(expected.clone()));
                Some(Expr::Binary(BinOp::Eq, old, expected).fold())
            }
            UpdateKind::Swap | UpdateKind::Apply(_) => None,
        }
    }

    /// Returns the result: whether a CAS writes, or the old value.
    pub fn result(&self) -> Expr<Leaf> {
        let success = self.succeeds().filter(|_| !self.yields_old());
        success.unwrap_or_else(|| self.old.clone())
    }

    /// Returns whether the result is the old value.
    pub fn yields_old(&self) -> bool {
        match self.kind {
            UpdateKind::Cas(_, result) => result == CasResult::Old,
            UpdateKind::Swap | UpdateKind::Apply(_) => true,
        }
    }

    /// Returns the value after the update.
    pub fn value_after(&self) -> Expr<Leaf> {
        let new = self.new_value();
        match self.succeeds() {
            None => new,
            Some(succeeds) => {
                Expr::Select(Box::new(succeeds), Box::new(new), Box::new(self.old.clone())).fold()
            }
        }
    }
}

impl Action {
    /// Returns the action of an operation of a lowered program.
    pub fn of(op: &Op, view: &impl StateView) -> Action {
        match op {
            Op::Assign { reg, expr } => Action::Assign { reg: *reg, value: view.value(expr) },
            Op::Load { reg, from } => {
                Action::Load { reg: *reg, from: view.place(from), value: view.read(from) }
            }
            Op::Store { to, value } => {
                Action::Store { to: view.place(to), value: view.value(value) }
            }
            Op::Update { reg, at, update } => {
                let old = view.read(at);
                let (kind, operand) = match update {
                    Update::Cas { expected, new, result } => {
                        (UpdateKind::Cas(view.value(expected), *result), new)
                    }
                    Update::Swap { new } => (UpdateKind::Swap, new),
                    Update::Add { by, .. } => (UpdateKind::Apply(BinOp::Add), by),
                    Update::Bits { op, by } => (UpdateKind::Apply(*op), by),
                };
                let (at, operand) = (view.place(at), view.value(operand));
                Action::Update(UpdateAction { reg: *reg, at, old, kind, operand })
            }
            Op::Choose { reg, lo, hi } => Action::Choose { reg: *reg, lo: *lo, hi: *hi },
            Op::Drain(at) => Action::Drain(view.place(at)),
            Op::Branch { cond, then, otherwise } => {
                Action::Branch { cond: view.value(cond), then: *then, otherwise: *otherwise }
            }
            Op::Assume(cond) => Action::Assume(view.value(cond)),
            Op::Assert(cond) => Action::Assert(view.value(cond)),
            Op::Fence(_) => Action::Fence,
            Op::Skip
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Halt => Action::Nothing,
            Op::Join | Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                unreachable!("`Unsupported::check` rejects these programs")
            }
            Op::New { .. } | Op::Free { .. } => unreachable!("lowered programs have no records"),
        }
    }

    /// Returns the register that the action sets and its value, if the action has no other effect.
    pub fn register_assignment(&self) -> Option<(Reg, &Expr<Leaf>)> {
        match self {
            Action::Assign { reg, value } | Action::Load { reg, value, .. } => Some((*reg, value)),
            Action::Nothing
            | Action::Fence
            | Action::Store { .. }
            | Action::Update(_)
            | Action::Choose { .. }
            | Action::Drain(_)
            | Action::Branch { .. }
            | Action::Assume(_)
            | Action::Assert(_) => None,
        }
    }

    /// Returns the place that the action writes.
    pub fn written_place(&self) -> Option<&Leaf> {
        match self {
            Action::Store { to, .. } => Some(to),
            Action::Update(update_action) => Some(&update_action.at),
            Action::Nothing
            | Action::Fence
            | Action::Assign { .. }
            | Action::Load { .. }
            | Action::Choose { .. }
            | Action::Drain(_)
            | Action::Branch { .. }
            | Action::Assume(_)
            | Action::Assert(_) => None,
        }
    }

    /// Returns the place that the action accesses.
    pub fn accessed_place(&self) -> Option<&Leaf> {
        if let Action::Load { from, .. } = self { Some(from) } else { self.written_place() }
    }

    /// Returns the place of the action's address, accessed or not.
    pub fn address(&self) -> Option<&Leaf> {
        if let Action::Drain(at) = self { Some(at) } else { self.accessed_place() }
    }

    /// Returns whether the action accesses memory.
    pub fn accesses(&self) -> bool {
        self.accessed_place().is_some()
    }

    /// Returns the index of the action's address and the values that it computes, in evaluation
    /// order.
    pub fn values(&self) -> Vec<&Expr<Leaf>> {
        let index = match self.address() {
            Some(Leaf::Element(_, _, index)) => Some(index.as_ref()),
            Some(Leaf::Reg(_) | Leaf::Loc(_)) | None => None,
        };
        let values: Vec<&Expr<Leaf>> = match self {
            Action::Assign { value, .. } | Action::Store { value, .. } => vec![value],
            Action::Update(UpdateAction {
                kind: UpdateKind::Cas(expected, _), operand, ..
            }) => {
                vec![expected, operand]
            }
            Action::Update(update_action) => vec![&update_action.operand],
            Action::Branch { cond, .. } | Action::Assume(cond) | Action::Assert(cond) => vec![cond],
            Action::Nothing
            | Action::Fence
            | Action::Load { .. }
            | Action::Choose { .. }
            | Action::Drain(_) => Vec::new(),
        };
        index.into_iter().chain(values).collect()
    }

    /// Returns whether the action may be fused with an access into one step, before or after the
    /// access.
    pub fn is_local(&self) -> bool {
        match self {
            Action::Nothing
            | Action::Fence
            | Action::Assign { .. }
            | Action::Drain(_)
            | Action::Assert(_) => true,
            Action::Load { .. }
            | Action::Store { .. }
            | Action::Update(_)
            | Action::Choose { .. }
            | Action::Branch { .. }
            | Action::Assume(_) => false,
        }
    }
}
