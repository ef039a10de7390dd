//! Finds the registers that hold abstract values.
//!
//! A register holds abstract values if one is loaded into it, or if the value of an expression over
//! such registers is assigned to it. The result of a comparison is 0 or 1 and is not abstract.

use super::formula::is_boolean;
use super::{CannotAbstract, is_abstracted};
use fencepost_ir::{CasResult, Expr, Op, Reg, Thread, Type, Update};

/// Returns whether an update yields whether it succeeds, and not the old value.
pub(super) fn yields_success(update: &Update) -> bool {
    matches!(update, Update::Cas { result: CasResult::Success, .. })
}

/// The abstract values in one thread.
#[derive(Clone, Debug)]
pub(super) struct Taint {
    /// By register: whether it holds abstract values.
    pub(super) registers: Vec<bool>,
    /// By program counter: whether the statement accesses an abstracted location.
    pub(super) accesses: Vec<bool>,
}

impl Taint {
    /// Finds the abstract values of a thread.
    pub(super) fn new(thread: &Thread, locations: &[bool]) -> Result<Self, CannotAbstract> {
        let mut accesses = Vec::new();
        for stmt in &thread.code {
            accesses.push(match stmt.op.address() {
                Some(at) => is_abstracted(at, locations)?,
                None => false,
            });
        }
        let mut taint = Taint { registers: vec![false; thread.registers.len()], accesses };
        loop {
            let mut changed = false;
            for (at, stmt) in thread.code.iter().enumerate() {
                if let Some(reg) = stmt.op.target()
                    && !taint.registers[reg.index()]
                    && taint.yields_abstract_value(at, &stmt.op)
                {
                    taint.registers[reg.index()] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for (register, _) in thread.registers.iter().zip(&taint.registers).filter(|(_, is)| **is) {
            if register.ty != Type::INT {
                let (thread, name) = (thread.name.clone(), register.name.clone());
                return Err(CannotAbstract::ReachesRegister(thread, name));
            }
        }
        Ok(taint)
    }

    fn yields_abstract_value(&self, at: usize, op: &Op) -> bool {
        match op {
            Op::Load { .. } => self.accesses[at],
            Op::Update { update, .. } => self.accesses[at] && !yields_success(update),
            Op::Assign { expr, .. } => self.is_abstract(expr),
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
            | Op::Halt => false,
        }
    }

    /// Returns whether an expression reads an abstract value.
    pub(super) fn reads(&self, expr: &Expr<Reg>) -> bool {
        let mut reads = false;
        expr.for_each_var(&mut |reg| reads |= self.registers[reg.index()]);
        reads
    }

    /// Returns whether the value of an expression is abstract.
    pub(super) fn is_abstract(&self, expr: &Expr<Reg>) -> bool {
        self.reads(expr) && !is_boolean(expr)
    }
}
