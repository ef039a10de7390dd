//! Lowers expressions. Shared accesses become statements, the rest stays a pure expression.
//!
//! Invariant: an expression never changes a register that is named in the source. A register
//! operand can therefore be read later than the source order.

use fencepost_ir::assemble::Target;
use fencepost_ir::{BinOp, Expr, Op, Reg, Span, UnOp, Update, Value};

use super::labels::Kind;
use super::thread::{Lowerer, Slot};
use crate::fp::consts::inclusive_bounds;
use crate::fp::integers::{negated, to_int, typed, unary_op, wrap};
use crate::fp::tree::{self, ExprKind, Place, Root};
use crate::fp::types::{LocalId, Ty, VarTy};
use crate::fp::{codes, limits};

impl<'a> Lowerer<'_, 'a> {
    /// Lowers an expression to a pure expression. Emits the statements that compute its parts.
    pub(super) fn value(&mut self, expr: &'a tree::Expr) -> Expr<Reg> {
        let mut result = Expr::Const(0);
        self.nested(expr.span, |lowerer| result = lowerer.value_inner(expr));
        result.fold()
    }

    fn value_inner(&mut self, expr: &'a tree::Expr) -> Expr<Reg> {
        match &expr.kind {
            ExprKind::Const(value) => Expr::Const(*value),
            ExprKind::Param => Expr::Const(self.param.unwrap_or(0)),
            ExprKind::Local(id) => match &self.frame.slots[id.index()] {
                Slot::Reg(reg) => Expr::Var(*reg),
                Slot::Alias(expr) => expr.clone(),
            },
            ExprKind::LocalElement(element) => self.element_value(element, expr.span),
            ExprKind::Wrap(a, range) => wrap(self.value(a), *range),
            ExprKind::ToInt(a) => to_int(a.ty, self.value(a)),
            ExprKind::Unary(op, a) => {
                let a = self.value(a);
                match expr.ty {
                    Ty::Fixed(width) => unary_op(*op, width, a),
                    Ty::Bool | Ty::Int | Ty::Enum(_) | Ty::Ref(_) | Ty::Null => {
                        Expr::Unary(*op, Box::new(a))
                    }
                }
            }
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or), a, b) if !b.pure => {
                self.short_circuit(*op, a, b, None)
            }
            ExprKind::Binary(op, left, right) => {
                let a = self.value(left);
                let b = self.value(right);
                typed(*op, expr.ty, (left.ty, right.ty), a, b)
            }
            ExprKind::Select(c, a, b) if a.pure && b.pure => {
                let c = self.value(c);
                let a = self.value(a);
                let b = self.value(b);
                Expr::Select(Box::new(c), Box::new(a), Box::new(b))
            }
            ExprKind::Call(proc, arguments) => {
                let reg = self.temporary(self.type_of(expr), expr.span);
                self.call(*proc, arguments, expr.span, Some(reg));
                Expr::Var(reg)
            }
            ExprKind::Select(..)
            | ExprKind::Load(_)
            | ExprKind::Update(..)
            | ExprKind::ChooseRange(..)
            | ExprKind::New(_) => {
                let reg = self.temporary(VarTy::plain(expr.ty), expr.span);
                self.value_into(expr, reg);
                Expr::Var(reg)
            }
            ExprKind::ChooseList(list) => self.choose_list(expr, list, None),
            ExprKind::ThreadRegister(..)
            | ExprKind::At(..)
            | ExprKind::ClientResult(..)
            | ExprKind::WholeArray(_) => {
                unreachable!("only conditions contain these")
            }
        }
    }

    /// Returns the type of a temporary for the value of an expression.
    fn type_of(&self, expr: &tree::Expr) -> VarTy {
        if let ExprKind::Call(proc, _) = &expr.kind
            && let Some(returns) = self.context.unit.procs[proc.index()].returns
        {
            return returns;
        }
        VarTy::plain(expr.ty)
    }

    /// Lowers `a && b` or `a || b` where `b` is not pure. The value is stored in `target`, which
    /// `b` must not read, or in a temporary.
    fn short_circuit(
        &mut self,
        op: BinOp,
        a: &'a tree::Expr,
        b: &'a tree::Expr,
        target: Option<Reg>,
    ) -> Expr<Reg> {
        let decided = Value::from(op == BinOp::Or);
        if a.pure {
            match self.value(a).as_const() {
                Some(value) if Value::from(value != 0) == decided => return Expr::Const(decided),
                Some(_) => return self.value(b),
                None => {}
            }
        }
        let reg = target.unwrap_or_else(|| self.temporary(VarTy::plain(a.ty), a.span));
        let (right, done) = (self.code.target(), self.code.target());
        self.value_into(a, reg);
        let (then, otherwise) = if op == BinOp::And { (right, done) } else { (done, right) };
        self.emit_branch(Expr::Var(reg), then, otherwise, a.span);
        self.code.bind(right);
        self.value_into(b, reg);
        self.code.bind(done);
        Expr::Var(reg)
    }

    /// Stores the value of an expression in a register.
    pub(super) fn value_into(&mut self, expr: &'a tree::Expr, reg: Reg) {
        self.nested(expr.span, |lowerer| lowerer.value_into_inner(expr, reg));
    }

    fn value_into_inner(&mut self, expr: &'a tree::Expr, reg: Reg) {
        match &expr.kind {
            ExprKind::Load(place) => {
                let from = self.address(place);
                self.emit_load(place, Op::Load { reg, from }, expr.span);
            }
            ExprKind::Update(place, update) => self.update(place, update, Some(reg), expr.span),
            ExprKind::ChooseRange(lo, hi, inclusive) => {
                if let Some((lo, hi)) = self.choose_bounds(lo, hi, *inclusive, expr.span) {
                    self.emit(Op::Choose { reg, lo, hi }, expr.span, Kind::Choose);
                }
            }
            ExprKind::ChooseList(list) => {
                let value = self.choose_list(expr, list, Some(reg));
                if value != Expr::Var(reg) {
                    self.emit(Op::Assign { reg, expr: value }, expr.span, Kind::Assign);
                }
            }
            ExprKind::New(pool) => self.emit(Op::New { reg, pool: *pool }, expr.span, Kind::New),
            ExprKind::Call(proc, arguments) => self.call_into(*proc, arguments, expr, reg),
            ExprKind::Select(c, a, b) if !(a.pure && b.pure) => {
                let (then, otherwise, done) =
                    (self.code.target(), self.code.target(), self.code.target());
                self.branch(c, then, otherwise, c.span);
                self.code.bind(then);
                self.value_into(a, reg);
                self.emit_jump(done, a.span);
                self.code.bind(otherwise);
                self.value_into(b, reg);
                self.code.bind(done);
            }
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or), a, b)
                if !b.pure && !self.reads(b, reg) =>
            {
                let value = self.short_circuit(*op, a, b, Some(reg));
                if value != Expr::Var(reg) {
                    self.emit(Op::Assign { reg, expr: value }, expr.span, Kind::Assign);
                }
            }
            ExprKind::Const(_)
            | ExprKind::Local(_)
            | ExprKind::Param
            | ExprKind::LocalElement(_)
            | ExprKind::Wrap(..)
            | ExprKind::ToInt(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Select(..)
            | ExprKind::ThreadRegister(..)
            | ExprKind::At(..)
            | ExprKind::ClientResult(..)
            | ExprKind::WholeArray(_) => {
                let value = self.value(expr);
                if value != Expr::Var(reg) {
                    self.emit(Op::Assign { reg, expr: value }, expr.span, Kind::Assign);
                }
            }
        }
    }

    fn call_into(
        &mut self,
        proc: crate::fp::types::ProcId,
        arguments: &'a [tree::Expr],
        expr: &'a tree::Expr,
        reg: Reg,
    ) {
        // The register must have the declared range of the procedure, so that the returned value is
        // checked.
        let ty = self.type_of(expr);
        let checked = ty.range.is_none() || self.has_type(reg, ty);
        let result_reg = if checked { reg } else { self.temporary(ty, expr.span) };
        self.call(proc, arguments, expr.span, Some(result_reg));
        if result_reg != reg {
            let value = Expr::Var(result_reg);
            self.emit(Op::Assign { reg, expr: value }, expr.span, Kind::Assign);
        }
    }

    /// Branches on a condition with short-circuit evaluation.
    pub(super) fn branch(
        &mut self,
        cond: &'a tree::Expr,
        then: Target,
        otherwise: Target,
        span: Span,
    ) {
        // The temporaries of the condition are free after the branch.
        self.nested(cond.span, |lowerer| {
            lowerer.scoped(|lowerer| lowerer.branch_inner(cond, then, otherwise, span));
        });
    }

    fn branch_inner(&mut self, cond: &'a tree::Expr, then: Target, otherwise: Target, span: Span) {
        if let ExprKind::Unary(UnOp::Not, inner) = &cond.kind
            && !inner.pure
        {
            return self.branch(inner, otherwise, then, span);
        }
        if let ExprKind::Binary(op @ (BinOp::And | BinOp::Or), a, b) = &cond.kind
            && !b.pure
        {
            let middle = self.code.target();
            if *op == BinOp::And {
                self.branch(a, middle, otherwise, a.span);
            } else {
                self.branch(a, then, middle, a.span);
            }
            self.code.bind(middle);
            return self.branch(b, then, otherwise, b.span);
        }
        let value = self.value(cond);
        self.emit_branch(value, then, otherwise, span);
    }

    /// Lowers an update.
    pub(super) fn update(
        &mut self,
        place: &'a Place,
        update: &'a tree::Update,
        reg: Option<Reg>,
        span: Span,
    ) {
        let at = self.address(place);
        let update = match update {
            tree::Update::Cas(expected, new, result) => {
                let expected = self.value(expected);
                let new = self.value(new);
                Update::Cas { expected, new, result: *result }
            }
            tree::Update::Swap(new) => Update::Swap { new: self.value(new) },
            tree::Update::Add(by) => Update::Add { by: self.value(by), wrap: place.ty.wraps() },
            tree::Update::Sub(by) => {
                let by = match place.ty.ty {
                    Ty::Fixed(width) => negated(width, self.value(by)),
                    Ty::Bool | Ty::Int | Ty::Enum(_) | Ty::Ref(_) | Ty::Null => {
                        Expr::Unary(UnOp::Neg, Box::new(self.value(by)))
                    }
                };
                Update::Add { by: by.fold(), wrap: place.ty.wraps() }
            }
            tree::Update::Bits(op, by) => Update::Bits { op: *op, by: self.value(by) },
        };
        self.emit_update(place, at, update, reg, span);
    }

    /// Returns the first and last value of the range of a `choose`.
    fn choose_bounds(
        &mut self,
        lo: &'a tree::Expr,
        hi: &'a tree::Expr,
        inclusive: bool,
        span: Span,
    ) -> Option<(Value, Value)> {
        let (lo, hi) = (self.thread_constant(lo)?, self.thread_constant(hi)?);
        let (lo, hi) = inclusive_bounds(lo, hi, inclusive);
        if lo > hi {
            let label = "the range is empty; `a..b` does not contain `b`";
            self.error_once(codes::EMPTY, span, "this `choose` has no values", label);
            return None;
        }
        if hi.abs_diff(lo) >= limits::ALTERNATIVES.into() {
            let label = format!("the limit is {} values", limits::ALTERNATIVES);
            self.error_once(codes::TOO_LARGE, span, "this `choose` has too many values", &label);
            return None;
        }
        Some((lo, hi))
    }

    fn choose_list(
        &mut self,
        expr: &'a tree::Expr,
        list: &'a [tree::Expr],
        reg: Option<Reg>,
    ) -> Expr<Reg> {
        let mut values = Vec::new();
        for value in list {
            let Some(value) = self.thread_constant(value) else {
                return Expr::Const(0);
            };
            values.push(value);
        }
        values.sort_unstable();
        values.dedup();
        let (Some(first), Some(end)) = (values.first().copied(), values.last().copied()) else {
            return Expr::Const(0);
        };
        if first == end {
            return Expr::Const(first);
        }
        if end.abs_diff(first) == values.len() as u64 - 1 {
            let reg = reg.unwrap_or_else(|| self.temporary(VarTy::plain(expr.ty), expr.span));
            self.emit(Op::Choose { reg, lo: first, hi: end }, expr.span, Kind::Choose);
            return Expr::Var(reg);
        }
        let index = self.temporary(VarTy::plain(Ty::Int), expr.span);
        let hi = values.len() as Value - 1;
        self.emit(Op::Choose { reg: index, lo: 0, hi }, expr.span, Kind::Choose);
        let mut chain = Expr::Const(end);
        for (at, value) in values.iter().enumerate().rev().skip(1) {
            let is_selected = Expr::Binary(
                BinOp::Eq,
                Box::new(Expr::Var(index)),
                Box::new(Expr::Const(at as Value)),
            );
            chain =
                Expr::Select(Box::new(is_selected), Box::new(Expr::Const(*value)), Box::new(chain));
        }
        chain
    }

    /// Evaluates an expression that is constant in this thread.
    fn thread_constant(&mut self, expr: &'a tree::Expr) -> Option<Value> {
        let value = self.value(expr).as_const();
        if value.is_none() && !self.failed {
            let label = "the evaluation faults";
            let message = "this constant cannot be evaluated";
            self.error_once(codes::BAD_CONSTANT, expr.span, message, label);
        }
        value
    }

    /// Reports an error once for all instances of a template.
    fn error_once(&mut self, code: &'static str, span: Span, message: &str, label: &str) {
        if self.context.reported.insert((code, span)) {
            self.context.diagnostics.error(code, span, message).label(label);
        }
    }

    /// Returns whether the evaluation of an expression reads a register. Called procedures read
    /// registers of this body only through their arguments.
    fn reads(&self, expr: &tree::Expr, reg: Reg) -> bool {
        let place = |place: &Place| {
            let root = match &place.root {
                Root::Shared(_) => false,
                Root::Field { of, .. } => self.reads(of, reg),
            };
            root || place.indices.iter().any(|index| self.reads(index, reg))
        };
        match &expr.kind {
            ExprKind::Local(local) => match &self.frame.slots[local.index()] {
                Slot::Reg(slot) => *slot == reg,
                Slot::Alias(alias) => *alias == Expr::Var(reg),
            },
            ExprKind::LocalElement(element) => {
                self.element_registers(element).contains(&reg)
                    || element.indices.iter().any(|index| self.reads(index, reg))
            }
            ExprKind::Load(at) => place(at),
            ExprKind::Unary(_, a) | ExprKind::Wrap(a, _) | ExprKind::ToInt(a) => self.reads(a, reg),
            ExprKind::Binary(_, a, b) => self.reads(a, reg) || self.reads(b, reg),
            ExprKind::Select(c, a, b) => {
                self.reads(c, reg) || self.reads(a, reg) || self.reads(b, reg)
            }
            ExprKind::Update(at, update) => {
                place(at)
                    || match update {
                        tree::Update::Cas(a, b, _) => self.reads(a, reg) || self.reads(b, reg),
                        tree::Update::Swap(a)
                        | tree::Update::Add(a)
                        | tree::Update::Sub(a)
                        | tree::Update::Bits(_, a) => self.reads(a, reg),
                    }
            }
            ExprKind::Call(_, arguments) => arguments.iter().any(|a| self.reads(a, reg)),
            ExprKind::Const(_)
            | ExprKind::Param
            | ExprKind::ChooseRange(..)
            | ExprKind::ChooseList(_)
            | ExprKind::New(_)
            | ExprKind::ThreadRegister(..)
            | ExprKind::At(..)
            | ExprKind::ClientResult(..)
            | ExprKind::WholeArray(_) => false,
        }
    }

    /// Returns the register of an assigned local.
    pub(super) fn slot(&self, local: LocalId) -> Reg {
        match &self.frame.slots[local.index()] {
            Slot::Reg(reg) => *reg,
            Slot::Alias(_) => unreachable!("a local that is assigned has a register"),
        }
    }
}
