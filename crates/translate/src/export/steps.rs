//! What the statements of a lowered program do, as conditions and assignments over the state: the form that checks,
//! guards and printers work on. Operations are read here and nowhere else.
//!
//! An [`Action`] says what one statement does to registers and memory. Its values are about the state before the
//! statement as a [`View`] shows it: the state as it is ([`Env`]), with values in place of some registers, or with what an atomic block
//! has done so far ([`guards`](super::guards)). What must hold so that an action does not fault is in
//! [`checks`](super::checks).

use super::substitute::substitute;
use fencepost_ir::{Address, BinOp, Expr, Loc, Op, Pc, Reg, Update, Value};
use std::collections::BTreeMap;

/// What a condition about a state is made of, seen from one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Leaf {
    /// A register of the thread.
    Reg(Reg),
    /// A location.
    Loc(Loc),
    /// An element of an array: its first location, its length, the index.
    Element(Loc, u32, Box<Expr<Leaf>>),
}

impl Leaf {
    /// The locations that it may be, by the first one and how many; none for a register.
    pub fn stretch(&self) -> Option<(Loc, u32)> {
        match self {
            Leaf::Reg(_) => None,
            Leaf::Loc(loc) => Some((*loc, 1)),
            Leaf::Element(base, len, _) => Some((*base, *len)),
        }
    }

    /// The locations that it may be.
    pub fn locations(&self) -> impl Iterator<Item = Loc> + use<> {
        let (base, len) = self.stretch().unwrap_or((Loc(0), 0));
        (base.0..base.0 + len).map(Loc)
    }
}

/// How a statement sees the state.
pub trait View {
    /// What an expression is.
    fn value(&self, expr: &Expr<Reg>) -> Expr<Leaf>;
    /// Where an address is.
    fn place(&self, at: &Address) -> Leaf;
    /// What is there.
    fn read(&self, at: &Address) -> Expr<Leaf>;
}

/// The state as it is, but for some registers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Env {
    /// What they stand for.
    pub registers: BTreeMap<Reg, Expr<Leaf>>,
}

impl View for Env {
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

/// What a statement does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Nothing that anyone sees under SC, or only where control goes.
    Nothing,
    /// Orders accesses, which are in order under SC.
    Fence,
    /// Sets a register to a value that is computed.
    Assign {
        /// Target.
        reg: Reg,
        /// Value.
        value: Expr<Leaf>,
    },
    /// Sets a register to what is in memory.
    Load {
        /// Target.
        reg: Reg,
        /// Where from.
        from: Leaf,
        /// What is there.
        value: Expr<Leaf>,
    },
    /// Writes memory.
    Store {
        /// Where to.
        to: Leaf,
        /// Value.
        value: Expr<Leaf>,
    },
    /// Reads and writes memory.
    Update(Change),
    /// Sets a register to any value of a range.
    Choose {
        /// Target.
        reg: Reg,
        /// The smallest value.
        lo: Value,
        /// The largest value.
        hi: Value,
    },
    /// Accesses nothing, but has an address that may fault.
    Drain(Leaf),
    /// Goes to one of two statements.
    Branch {
        /// The condition.
        cond: Expr<Leaf>,
        /// Next when it holds.
        then: Pc,
        /// Next when it does not.
        otherwise: Pc,
    },
    /// Waits until the condition holds: the guard of the step.
    Assume(Expr<Leaf>),
    /// Fails unless the condition holds.
    Assert(Expr<Leaf>),
}

/// What an update does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The register that gets what it yields, if that is wanted.
    pub reg: Option<Reg>,
    /// Where.
    pub at: Leaf,
    /// What is there before.
    pub old: Expr<Leaf>,
    /// How it changes that.
    pub kind: Kind,
    /// The operand; of a compare-and-swap, what it writes.
    pub by: Expr<Leaf>,
}

/// How an update changes what it finds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Compare and swap: writes only if it finds this.
    Cas(Expr<Leaf>),
    /// Writes the operand.
    Swap,
    /// Writes what the operator makes of the old value and the operand.
    Apply(BinOp),
}

impl Change {
    /// What it writes, if it does.
    pub fn written(&self) -> Expr<Leaf> {
        match &self.kind {
            Kind::Cas(_) | Kind::Swap => self.by.clone(),
            Kind::Apply(op) => {
                Expr::Binary(*op, Box::new(self.old.clone()), Box::new(self.by.clone())).fold()
            }
        }
    }

    /// Of a compare-and-swap: that it writes.
    pub fn succeeds(&self) -> Option<Expr<Leaf>> {
        match &self.kind {
            Kind::Cas(expected) => {
                let (old, expected) = (Box::new(self.old.clone()), Box::new(expected.clone()));
                Some(Expr::Binary(BinOp::Eq, old, expected).fold())
            }
            Kind::Swap | Kind::Apply(_) => None,
        }
    }

    /// What it yields: for a compare-and-swap whether it writes, else the old value.
    pub fn yields(&self) -> Expr<Leaf> {
        self.succeeds().unwrap_or_else(|| self.old.clone())
    }

    /// What is there afterwards.
    pub fn after(&self) -> Expr<Leaf> {
        let new = self.written();
        match self.succeeds() {
            None => new,
            Some(succeeds) => {
                Expr::Select(Box::new(succeeds), Box::new(new), Box::new(self.old.clone())).fold()
            }
        }
    }
}

impl Action {
    /// What an operation of a lowered program does.
    pub fn of(op: &Op, view: &impl View) -> Action {
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
                let (kind, by) = match update {
                    Update::Cas { expected, new } => (Kind::Cas(view.value(expected)), new),
                    Update::Swap { new } => (Kind::Swap, new),
                    Update::Add { by } => (Kind::Apply(BinOp::Add), by),
                    Update::Bits { op, by } => (Kind::Apply(*op), by),
                };
                let (at, by) = (view.place(at), view.value(by));
                Action::Update(Change { reg: *reg, at, old, kind, by })
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
            Op::New { .. } | Op::Free { .. } => unreachable!("lowered programs have no records"),
        }
    }

    /// The register that it sets to a value, and the value, if it does nothing else.
    pub fn sets(&self) -> Option<(Reg, &Expr<Leaf>)> {
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

    /// Where it writes memory.
    pub fn written(&self) -> Option<&Leaf> {
        match self {
            Action::Store { to, .. } => Some(to),
            Action::Update(change) => Some(&change.at),
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

    /// Where it accesses memory.
    pub fn accessed(&self) -> Option<&Leaf> {
        if let Action::Load { from, .. } = self { Some(from) } else { self.written() }
    }

    /// The address that it has: where it accesses memory, or would.
    pub fn address(&self) -> Option<&Leaf> {
        if let Action::Drain(at) = self { Some(at) } else { self.accessed() }
    }

    /// Whether it accesses memory.
    pub fn accesses(&self) -> bool {
        self.accessed().is_some()
    }

    /// The index of its address, and the values that it computes, in the order of evaluation.
    pub fn values(&self) -> Vec<&Expr<Leaf>> {
        let index = match self.address() {
            Some(Leaf::Element(_, _, index)) => Some(index.as_ref()),
            Some(Leaf::Reg(_) | Leaf::Loc(_)) | None => None,
        };
        let values: Vec<&Expr<Leaf>> = match self {
            Action::Assign { value, .. } | Action::Store { value, .. } => vec![value],
            Action::Update(Change { kind: Kind::Cas(expected), by, .. }) => vec![expected, by],
            Action::Update(change) => vec![&change.by],
            Action::Branch { cond, .. } | Action::Assume(cond) | Action::Assert(cond) => vec![cond],
            Action::Nothing
            | Action::Fence
            | Action::Load { .. }
            | Action::Choose { .. }
            | Action::Drain(_) => Vec::new(),
        };
        index.into_iter().chain(values).collect()
    }

    /// Whether it may be in the same step as an access, before or after it.
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
