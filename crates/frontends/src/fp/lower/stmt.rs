//! Lowers statements.

use fencepost_ir::assemble::Target;
use fencepost_ir::{BinOp, Expr, Op, Span};

use super::labels::Kind;
use super::thread::{Loop, Lowerer};
use crate::fp::integers::{typed, wrap};
use crate::fp::tree::{self, ExprKind, Stmt, StmtKind};
use crate::fp::types::{Ty, VarTy};

impl<'a> Lowerer<'_, 'a> {
    pub(super) fn stmts(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        self.nested(stmt.span, |lowerer| lowerer.scoped(|lowerer| lowerer.stmt_inner(stmt)));
    }

    fn stmt_inner(&mut self, stmt: &'a Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Block(stmts) => self.stmts(stmts),
            StmtKind::Unbraced(first, body, last) => {
                self.mark_gap(first.as_ref());
                self.stmt_inner(body);
                self.mark_gap(last.as_ref());
            }
            StmtKind::Gap(gap) => self.mark_gap(Some(gap)),
            StmtKind::Label(label, gap, body) => {
                let target = self.frame.labels[*label];
                self.code.bind(target);
                self.mark_control_point(*label);
                self.mark_gap(gap.as_ref());
                self.stmt(body);
            }
            StmtKind::Reset(local) => {
                let reg = self.slot(*local);
                self.emit(Op::Assign { reg, expr: Expr::Const(0) }, span, Kind::Reset);
            }
            StmtKind::Assign(local, value) => {
                let reg = self.slot(*local);
                match &value.kind {
                    // The operation of the value writes the register. It has its own label.
                    ExprKind::Load(_)
                    | ExprKind::Update(..)
                    | ExprKind::ChooseRange(..)
                    | ExprKind::ChooseList(_)
                    | ExprKind::New(_)
                    | ExprKind::Call(..) => self.value_into(value, reg),
                    ExprKind::Select(_, a, b) if !(a.pure && b.pure) => self.value_into(value, reg),
                    ExprKind::Binary(BinOp::And | BinOp::Or, _, b) if !b.pure => {
                        self.value_into(value, reg);
                    }
                    ExprKind::Const(_)
                    | ExprKind::Local(_)
                    | ExprKind::LocalElement(_)
                    | ExprKind::Wrap(..)
                    | ExprKind::ToInt(_)
                    | ExprKind::Param
                    | ExprKind::Unary(..)
                    | ExprKind::Binary(..)
                    | ExprKind::Select(..)
                    | ExprKind::ThreadRegister(..)
                    | ExprKind::At(..)
                    | ExprKind::ClientResult(..)
                    | ExprKind::WholeArray(_) => {
                        let expr = self.value(value);
                        self.emit(Op::Assign { reg, expr }, span, Kind::Assign);
                    }
                }
            }
            StmtKind::AssignWaiting(local, value, range) => {
                let reg = self.slot(*local);
                let expr = self.value(value);
                self.wait_for_range(&expr, *range, span);
                self.emit(Op::Assign { reg, expr }, span, Kind::Assign);
            }
            StmtKind::AssignElement(element, value) => self.assign_element(element, value, span),
            StmtKind::Modify(local, op, value) => {
                let reg = self.slot(*local);
                let value = self.value(value);
                let expr = Expr::Binary(*op, Box::new(Expr::Var(reg)), Box::new(value));
                self.emit(Op::Assign { reg, expr }, span, Kind::Assign);
            }
            StmtKind::Store(place, value) => {
                let to = self.address(place);
                let value = self.value(value);
                self.emit_store(place, to, value, span);
            }
            StmtKind::StoreModify(place, op, value) => {
                let to = self.address(place);
                let old = self.temporary(VarTy::plain(place.ty.ty), span);
                self.emit(Op::Load { reg: old, from: to.clone() }, place.span, Kind::Load);
                let value = self.value(value);
                let ty = place.ty.ty;
                let mut value = typed(*op, ty, (ty, ty), Expr::Var(old), value);
                if let Some(range) = place.ty.wraps().filter(|_| place.ty.ty == Ty::Int) {
                    value = wrap(value, range);
                }
                self.emit_store(place, to, value, span);
            }
            StmtKind::Eval(expr) => self.eval(expr),
            StmtKind::If(cond, head, then, otherwise) => {
                self.if_else(cond, *head, then, otherwise.as_deref());
            }
            StmtKind::While { cond, head, body, step } => {
                let (enter, start) = (self.code.target(), self.code.target());
                let (again, exit) = (self.code.target(), self.code.target());
                self.code.bind(enter);
                if let Some(cond) = cond {
                    self.branch(cond, start, exit, *head);
                }
                self.code.bind(start);
                self.in_loop(exit, again, body);
                self.code.bind(again);
                if let Some(step) = step {
                    self.stmt(step);
                }
                self.emit_jump(enter, *head);
                self.code.bind(exit);
            }
            StmtKind::DoWhile(body, cond, head) => {
                let (start, again, exit) =
                    (self.code.target(), self.code.target(), self.code.target());
                self.code.bind(start);
                self.in_loop(exit, again, body);
                self.code.bind(again);
                self.branch(cond, start, exit, *head);
                self.code.bind(exit);
            }
            StmtKind::Switch(value, head, cases) => self.switch(value, *head, cases),
            StmtKind::Break => self.loop_jump(span, |inner| (inner.exit, inner.critical)),
            StmtKind::Continue => {
                self.loop_jump(span, |inner| (inner.again, inner.continue_critical));
            }
            StmtKind::Goto(label, outside) => {
                let target = self.frame.labels[*label];
                self.leave_critical_unless(!outside || self.frame.critical, span);
                self.emit_jump(target, span);
            }
            StmtKind::Return(value) => {
                match (value, self.frame.result) {
                    (Some(value), Some(reg)) => self.value_into(value, reg),
                    (Some(value), None) => self.eval(value),
                    (None, _) => {}
                }
                self.leave_critical_unless(self.frame.critical, span);
                self.emit_jump(self.frame.end, span);
            }
            StmtKind::Skip => self.emit(Op::Skip, span, Kind::Skip),
            StmtKind::Fence(kinds, gap) => {
                self.emit(Op::Fence(*kinds), span, Kind::Fence);
                self.existing_fence(*kinds, gap, span);
            }
            StmtKind::Drain(place) => {
                let at = self.address(place);
                self.emit(Op::Drain(at), span, Kind::Drain);
            }
            StmtKind::Assume(cond) => {
                self.warn_assume(cond, span);
                let cond = self.value(cond);
                if cond.as_const().is_none_or(|value| value == 0) {
                    self.emit(Op::Assume(cond), span, Kind::Assume);
                }
            }
            StmtKind::Await(cond) => self.await_condition(cond, span),
            StmtKind::Assert(cond) => {
                let cond = self.value(cond);
                self.emit(Op::Assert(cond), span, Kind::Assert);
            }
            StmtKind::Free(pool, reference) => {
                let cell = self.value(reference);
                self.emit(Op::Free { pool: *pool, cell }, span, Kind::Free);
            }
            StmtKind::Critical(body, close) => self.critical_block(body, *close),
            StmtKind::Atomic(body, close) => self.atomic_block(body, span, *close),
            StmtKind::Either(branches, word) => self.either(branches, *word),
        }
    }

    fn if_else(
        &mut self,
        cond: &'a tree::Expr,
        head: Span,
        then: &'a Stmt,
        otherwise: Option<&'a Stmt>,
    ) {
        let (yes, no, done) = (self.code.target(), self.code.target(), self.code.target());
        self.branch(cond, yes, no, head);
        self.code.bind(yes);
        self.stmt(then);
        if let Some(otherwise) = otherwise {
            self.emit_jump(done, head);
            self.code.bind(no);
            self.stmt(otherwise);
        } else {
            self.code.bind(no);
        }
        self.code.bind(done);
    }

    fn in_loop(&mut self, exit: Target, again: Target, body: &'a Stmt) {
        let critical = self.critical;
        let around = Loop { exit, again, critical, continue_critical: critical, switch: false };
        self.frame.loops.push(around);
        self.stmt(body);
        self.frame.loops.pop();
    }

    fn loop_jump(&mut self, span: Span, target: impl FnOnce(Loop) -> (Target, bool)) {
        let inner = *self.frame.loops.last().expect("`break` and `continue` are inside a loop");
        let (target, critical) = target(inner);
        self.leave_critical_unless(critical, span);
        self.emit_jump(target, span);
    }

    /// Lowers an expression whose value is not used.
    fn eval(&mut self, expr: &'a tree::Expr) {
        match &expr.kind {
            ExprKind::Call(proc, arguments) => self.call(*proc, arguments, expr.span, None),
            ExprKind::Update(place, update) => self.update(place, update, None, expr.span),
            ExprKind::Const(_)
            | ExprKind::Local(_)
            | ExprKind::LocalElement(_)
            | ExprKind::Wrap(..)
            | ExprKind::ToInt(_)
            | ExprKind::Param
            | ExprKind::Load(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Select(..)
            | ExprKind::ChooseRange(..)
            | ExprKind::ChooseList(_)
            | ExprKind::New(_)
            | ExprKind::ThreadRegister(..)
            | ExprKind::At(..)
            | ExprKind::ClientResult(..)
            | ExprKind::WholeArray(_) => {
                let value = self.value(expr);
                // Evaluate the expression, because the evaluation may fault.
                if !matches!(value, Expr::Const(_) | Expr::Var(_)) {
                    let reg = self.temporary(VarTy::plain(expr.ty), expr.span);
                    self.emit(Op::Assign { reg, expr: value }, expr.span, Kind::Assign);
                }
            }
        }
    }

    /// Leaves the critical section, unless the jump target is inside it.
    fn leave_critical_unless(&mut self, inside: bool, span: Span) {
        if self.critical && !inside {
            self.emit(Op::Leave, span, Kind::Leave);
        }
    }

    /// Lowers a `critical` block. Inside another `critical` block, inside `atomic` and in isolated
    /// code, the block has no effect.
    fn critical_block(&mut self, body: &'a [Stmt], close: Span) {
        if self.critical || self.atomic || self.isolated {
            self.stmts(body);
            return;
        }
        self.critical = true;
        self.stmts(body);
        self.emit(Op::Leave, close, Kind::Leave);
        self.critical = false;
    }

    /// Lowers an `atomic` block. Inside another `atomic` block and in isolated code, the block has
    /// no effect.
    fn atomic_block(&mut self, body: &'a [Stmt], span: Span, close: Span) {
        if self.atomic || self.isolated {
            self.stmts(body);
            return;
        }
        let word = Span { end: span.start + "atomic".len() as u32, ..span };
        self.emit(Op::AtomicBegin, word, Kind::AtomicBegin);
        self.atomic = true;
        self.stmts(body);
        self.atomic = false;
        self.emit(Op::AtomicEnd, close, Kind::AtomicEnd);
    }
}
