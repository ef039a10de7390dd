//! Finds the pools whose accessed records are always allocated, with a taint analysis.
//!
//! If no record of a pool is freed, and every reference to it is a copy of a result of `new`, then
//! every accessed record is allocated and needs no check. Direction: under-approximation; the
//! analysis may miss such a pool. It is flow-insensitive.

use fencepost_ir::range::footprint;
use fencepost_ir::{CasResult, Expr, Op, PoolId, Program, Reg, Thread, Update};

/// Returns whether every reference that an access to the pool uses is null or a result of its
/// `new`, and no record of the pool is freed.
pub(super) fn is_always_allocated(program: &Program, pool: PoolId) -> bool {
    let threads: Vec<&Thread> = program.init.iter().chain(&program.threads).collect();
    let frees = |op: &Op| matches!(op, Op::Free { pool: freed, .. } if *freed == pool);
    if threads.iter().any(|t| t.code.iter().any(|s| frees(&s.op))) {
        return false;
    }
    let mut untainted = Untainted {
        locations: program.locations.iter().map(|l| l.init == 0).collect(),
        registers: threads.iter().map(|t| vec![true; t.registers.len()]).collect(),
    };
    loop {
        let before = untainted.clone();
        for (t, thread) in threads.iter().enumerate() {
            thread.code.iter().for_each(|stmt| untainted.propagate(program, pool, t, &stmt.op));
        }
        if untainted == before {
            break;
        }
    }
    threads.iter().enumerate().all(|(t, thread)| {
        thread
            .code
            .iter()
            .filter_map(|stmt| stmt.op.address()?.cell.as_ref())
            .all(|(accessed, reference)| *accessed != pool || untainted.is_untainted(t, reference))
    })
}

/// By location and by register: whether the value is null or a result of `new`.
#[derive(Clone, PartialEq, Eq)]
struct Untainted {
    locations: Vec<bool>,
    registers: Vec<Vec<bool>>,
}

impl Untainted {
    /// Returns whether the value is null or a copy of an untainted value.
    fn is_untainted(&self, t: usize, expr: &Expr<Reg>) -> bool {
        match expr {
            Expr::Const(value) => *value == 0,
            Expr::Var(reg) => self.registers[t][reg.index()],
            Expr::Select(_, a, b) => self.is_untainted(t, a) && self.is_untainted(t, b),
            Expr::Unary(..) | Expr::Binary(..) => false,
        }
    }

    fn propagate(&mut self, program: &Program, pool: PoolId, t: usize, op: &Op) {
        let taint = |this: &mut Self, reg: &Reg| this.registers[t][reg.index()] = false;
        match op {
            Op::Assign { reg, expr } => {
                if !self.is_untainted(t, expr) {
                    taint(self, reg);
                }
            }
            Op::Choose { reg, lo, hi } => {
                if (*lo, *hi) != (0, 0) {
                    taint(self, reg);
                }
            }
            Op::New { reg, pool: from } => {
                if *from != pool {
                    taint(self, reg);
                }
            }
            Op::Load { reg, from } => {
                if !footprint(program, from).all(|loc| self.locations[loc.index()]) {
                    taint(self, reg);
                }
            }
            Op::Store { to, value } => {
                if !self.is_untainted(t, value) {
                    footprint(program, to).for_each(|loc| self.locations[loc.index()] = false);
                }
            }
            Op::Update { reg, at, update } => {
                let (written, yields_old) = match update {
                    Update::Cas { new, result, .. } => {
                        (self.is_untainted(t, new), *result == CasResult::Old)
                    }
                    Update::Swap { new } => (self.is_untainted(t, new), true),
                    Update::Add { .. } | Update::Bits { .. } => (false, true),
                };
                let old = footprint(program, at).all(|loc| self.locations[loc.index()]);
                if !written {
                    footprint(program, at).for_each(|loc| self.locations[loc.index()] = false);
                }
                if let Some(reg) = reg
                    && !(yields_old && old)
                {
                    taint(self, reg);
                }
            }
            Op::Invoke { seen } => seen.iter().for_each(|(_, reg)| taint(self, reg)),
            Op::Skip
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Return { .. }
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => {}
        }
    }
}
