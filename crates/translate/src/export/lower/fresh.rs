//! Which records are used only through references that `new` gave out.
//!
//! When nothing of a pool is ever freed, and every reference to it was copied from what `new` yielded, a
//! record that is accessed is allocated: nobody needs to look. Direction: a pool that is not found here may
//! still be one of them. The values are followed without regard to control flow.

use fencepost_ir::range::footprint;
use fencepost_ir::{Expr, Op, PoolId, Program, Reg, Thread, Update};

/// Whether every reference that an access to the pool uses is null or was yielded by its `new`, and
/// nothing of it is freed.
pub(super) fn is_always_allocated(program: &Program, pool: PoolId) -> bool {
    let threads: Vec<&Thread> = program.init.iter().chain(&program.threads).collect();
    let frees = |op: &Op| matches!(op, Op::Free { pool: freed, .. } if *freed == pool);
    if threads.iter().any(|t| t.code.iter().any(|s| frees(&s.op))) {
        return false;
    }
    let mut clean = Clean {
        locations: program.locations.iter().map(|l| l.init == 0).collect(),
        registers: threads.iter().map(|t| vec![true; t.registers.len()]).collect(),
    };
    loop {
        let before = clean.clone();
        for (t, thread) in threads.iter().enumerate() {
            thread.code.iter().for_each(|stmt| clean.follow(program, pool, t, &stmt.op));
        }
        if clean == before {
            break;
        }
    }
    threads.iter().enumerate().all(|(t, thread)| {
        thread
            .code
            .iter()
            .filter_map(|stmt| stmt.op.address()?.cell.as_ref())
            .all(|(accessed, reference)| *accessed != pool || clean.copies(t, reference))
    })
}

/// By location and by register: whether it holds null, or what `new` yielded.
#[derive(Clone, PartialEq, Eq)]
struct Clean {
    locations: Vec<bool>,
    registers: Vec<Vec<bool>>,
}

impl Clean {
    /// Whether the value is null or a copy of something clean.
    fn copies(&self, t: usize, expr: &Expr<Reg>) -> bool {
        match expr {
            Expr::Const(value) => *value == 0,
            Expr::Var(reg) => self.registers[t][reg.index()],
            Expr::Select(_, a, b) => self.copies(t, a) && self.copies(t, b),
            Expr::Unary(..) | Expr::Binary(..) => false,
        }
    }

    fn follow(&mut self, program: &Program, pool: PoolId, t: usize, op: &Op) {
        let taint = |this: &mut Self, reg: &Reg| this.registers[t][reg.index()] = false;
        match op {
            Op::Assign { reg, expr } => {
                if !self.copies(t, expr) {
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
                if !self.copies(t, value) {
                    footprint(program, to).for_each(|loc| self.locations[loc.index()] = false);
                }
            }
            Op::Update { reg, at, update } => {
                let (written, yields_old) = match update {
                    Update::Cas { new, .. } => (self.copies(t, new), false),
                    Update::Swap { new } => (self.copies(t, new), true),
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
            | Op::Halt => {}
        }
    }
}
