//! Lowers `switch`: compares the value with each constant, then jumps to the statements of its part.
//! The parts follow each other, so control falls through from one to the next.

use fencepost_ir::assemble::Target;
use fencepost_ir::{BinOp, Expr, Op, Span};

use super::labels::Kind;
use super::thread::{Loop, Lowerer};
use crate::fp::tree::{self, Case};
use crate::fp::types::VarTy;

impl<'a> Lowerer<'_, 'a> {
    pub(super) fn switch(&mut self, value: &'a tree::Expr, head: Span, cases: &'a [Case]) {
        let exit = self.code.target();
        let starts: Vec<Target> = cases.iter().map(|_| self.code.target()).collect();
        // The value and its temporaries are not used after the comparisons.
        self.scoped(|lowerer| lowerer.comparisons(value, head, cases, &starts, exit));
        let again = self.frame.loops.last().map(|around| around.again);
        let around = Loop {
            exit,
            again: again.unwrap_or(exit),
            critical: self.critical,
            continue_critical: self
                .frame
                .loops
                .last()
                .map_or(self.critical, |around| around.continue_critical),
            switch: true,
        };
        for (case, start) in cases.iter().zip(starts) {
            self.code.bind(start);
            self.frame.loops.push(around);
            self.stmts(&case.body);
            self.frame.loops.pop();
        }
        self.code.bind(exit);
    }

    fn comparisons(
        &mut self,
        value: &'a tree::Expr,
        head: Span,
        cases: &'a [Case],
        starts: &[Target],
        exit: Target,
    ) {
        let mut lowered = self.value(value);
        if !matches!(lowered, Expr::Const(_) | Expr::Var(_)) {
            let reg = self.temporary(VarTy::plain(value.ty), head);
            self.emit(Op::Assign { reg, expr: lowered }, head, Kind::Assign);
            lowered = Expr::Var(reg);
        }
        let mut default = exit;
        for (case, start) in cases.iter().zip(starts) {
            if case.default {
                default = *start;
            }
            for (constant, span) in &case.values {
                let next = self.code.target();
                let (value, constant) = (lowered.clone(), Expr::Const(*constant));
                let equal = Expr::Binary(BinOp::Eq, Box::new(value), Box::new(constant)).fold();
                self.emit_branch_of(equal, *start, next, *span, Kind::Case);
                self.code.bind(next);
            }
        }
        self.emit_jump(default, head);
    }
}
