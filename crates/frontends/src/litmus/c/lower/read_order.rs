//! `smp_rmb()` in a thread with atomic operations that return nothing.
//!
//! In the memory model of Linux, `smp_rmb()` orders loads and atomic operations that return a
//! value, but not the load of an operation without a result, such as `atomic_inc(x)`. A fence
//! `load_load` orders every update. In a thread that contains both, `smp_rmb()` is therefore
//! lowered to dependencies, which every model preserves: the address of each load after it depends
//! on the values of all loads before it.
//!
//! ```text
//! r = x            load r = x; seen = seen | (r & 0)
//! smp_rmb()        ordered = seen
//! s = y            load s = y[ordered]
//! ```
//!
//! Both registers are always 0. Models that keep loads in order are not affected. Such a
//! `smp_rmb()` is not a place for fences, because no fence has its meaning.

use fencepost_ir::{Address, BinOp, Expr, Op, Reg};

use super::super::ast::{Expression, ExpressionKind, Function};
use super::super::functions::{self, FunctionKind, Returns};
use super::Lowerer;
use super::value::binary;

/// The registers that carry the order of loads.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadOrder {
    /// Depends on all loads so far.
    seen: Reg,
    /// Depends on all loads before the last `smp_rmb()`.
    ordered: Reg,
}

/// Returns whether a function calls `smp_rmb` and an atomic operation without a result.
pub(super) fn needs_dependencies(function: &Function) -> bool {
    let (mut has_barrier, mut has_void) = (false, false);
    function.body.for_each(&mut |expression: &Expression| {
        if let ExpressionKind::Call(name, _) = &expression.kind {
            has_barrier |= name == "smp_rmb";
            let kind = functions::find(name, false).map(|info| info.kind);
            has_void |= matches!(kind, Some(FunctionKind::Update(_, _, Returns::Nothing)));
        }
    });
    has_barrier && has_void
}

impl Lowerer<'_> {
    /// Creates the registers, if the function needs them.
    pub(super) fn init_read_order(&mut self) {
        if needs_dependencies(self.function) {
            let (seen, ordered) = (self.asm.temporary(), self.asm.temporary());
            self.read_order = Some(ReadOrder { seen, ordered });
        }
    }

    /// Lowers `smp_rmb()`. Returns false if a fence expresses it.
    pub(super) fn order_reads(&mut self) -> bool {
        let Some(ReadOrder { seen, ordered }) = self.read_order else { return false };
        self.asm.emit(Op::Assign { reg: ordered, expr: Expr::Var(seen) });
        true
    }

    /// Emits an access. Keeps a load, and an update with a result, in order with earlier ones.
    pub(super) fn emit_access(&mut self, mut op: Op) {
        let Some(ReadOrder { seen, ordered }) = self.read_order else {
            return self.asm.emit(op);
        };
        let read = match &mut op {
            Op::Load { reg, from: at } | Op::Update { reg: Some(reg), at, .. } => {
                depend(at, ordered);
                Some(*reg)
            }
            _ => None,
        };
        self.asm.emit(op);
        if let Some(reg) = read {
            // The value is 0, but it is known only after the load.
            let nothing =
                Expr::Binary(BinOp::BitAnd, Box::new(Expr::Var(reg)), Box::new(Expr::Const(0)));
            let expr = Expr::Binary(BinOp::BitOr, Box::new(Expr::Var(seen)), Box::new(nothing));
            self.asm.emit(Op::Assign { reg: seen, expr });
        }
    }
}

/// Makes an address depend on a register that is 0.
fn depend(at: &mut Address, zero: Reg) {
    at.index = Some(match at.index.take() {
        Some((len, index)) => (len, binary(BinOp::Add, index, Expr::Var(zero))),
        None => (1, Expr::Var(zero)),
    });
}
