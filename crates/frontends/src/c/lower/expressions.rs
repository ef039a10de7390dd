//! Expressions: every shared access becomes a statement, the rest is one expression over registers.
//!
//! Operands are evaluated from left to right. C does not define an order, so this is one of the
//! allowed ones. Loads go to temporaries.

use fencepost_ir::assemble::Target;
use fencepost_ir::{BinOp, Expr, Span};

use super::access::AccessMode;
use super::arithmetic::{Val, apply, binary, complement, difference, element, negate, select};
use super::layout::{POINTER, scalar_type};
use super::memory::function_address;
use super::state::State;
use super::thread::{Lowerer, Slot};
use crate::c::typed::{
    BinaryOp, Expr as TypedExpr, ExprKind, IntType, Intrinsic, Place, PlaceKind, Stmt, StmtKind,
    Type, TypeKind, VariableId,
};

const BOOL: IntType = IntType { bits: 8, signed: false, is_bool: true };

/// The value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Void,
    Scalar(Val),
    /// The scalars of a record.
    Record(Vec<Val>),
}

impl Value {
    /// Returns the value of a scalar.
    pub(super) fn scalar(self) -> Val {
        match self {
            Value::Scalar(value) => value,
            Value::Record(values) => values.into_iter().next().unwrap_or(Expr::Const(0)),
            Value::Void => Expr::Const(0),
        }
    }

    /// Returns all scalars.
    pub(super) fn scalars(self) -> Vec<Val> {
        match self {
            Value::Scalar(value) => vec![value],
            Value::Record(values) => values,
            Value::Void => Vec::new(),
        }
    }
}

impl<'p> Lowerer<'_, 'p> {
    /// Evaluates an expression whose value is a scalar.
    pub(super) fn value(&mut self, expr: &'p TypedExpr) -> Val {
        self.eval(expr, None).scalar()
    }

    /// Evaluates an expression. `hint` is the type of the object that the result is expected to
    /// point to.
    pub(super) fn eval(&mut self, expr: &'p TypedExpr, hint: Option<&Type>) -> Value {
        if !self.is_live() || !self.spend(expr.span) {
            return self.dead_value(expr);
        }
        let value = self.nested(expr.span, |lowerer| lowerer.eval_inner(expr, hint));
        value.unwrap_or_else(|| self.dead_value(expr))
    }

    /// Returns a value where the code is not reachable.
    fn dead_value(&mut self, expr: &TypedExpr) -> Value {
        match &expr.ty.kind {
            TypeKind::Record(_) => {
                let scalars = self.pass.scalars(&expr.ty, expr.span);
                Value::Record(vec![Expr::Const(0); scalars.len()])
            }
            TypeKind::Void => Value::Void,
            _ => Value::Scalar(Expr::Const(0)),
        }
    }

    fn eval_inner(&mut self, expr: &'p TypedExpr, hint: Option<&Type>) -> Value {
        let span = expr.span;
        let int = scalar_type(&expr.ty).unwrap_or(POINTER);
        Value::Scalar(match &expr.kind {
            ExprKind::Const(value) => Expr::Const(*value),
            ExprKind::Function(id) => Expr::Const(function_address(id.0)),
            ExprKind::Load(place, access) => {
                let spot = self.spot(place);
                if scalar_type(&place.ty).is_none() {
                    return Value::Record(self.load_record(&spot, &place.ty, span));
                }
                let cell = self.cell(spot, &place.ty, span);
                self.load(&cell, &place.ty, AccessMode::of(*access), span)
            }
            ExprKind::AddressOf(place) => {
                let spot = self.spot(place);
                self.address_of(spot, span)
            }
            ExprKind::Negate(a) => negate(self.value(a), int),
            ExprKind::Complement(a) => complement(self.value(a), int),
            ExprKind::Binary(op, a, b) => {
                let operands = scalar_type(&a.ty).unwrap_or(POINTER);
                let a = self.operand(a, b);
                let b = self.value(b);
                apply(*op, operands, a, b)
            }
            ExprKind::PointerAdd { pointer, index, size } => {
                let pointer = self.operand(pointer, index);
                let index = self.value(index);
                element(pointer, index, *size as i64)
            }
            ExprKind::PointerDifference { left, right, size } => {
                let left = self.operand(left, right);
                let right = self.value(right);
                difference(left, right, *size as i64)
            }
            ExprKind::Convert(inner) => return self.conversion(expr, inner, hint),
            ExprKind::And(a, b) if self.is_pure(b) => {
                let a = self.truth(a);
                let b = self.truth(b);
                binary(BinOp::And, a, b)
            }
            ExprKind::Or(a, b) if self.is_pure(b) => {
                let a = self.truth(a);
                let b = self.truth(b);
                binary(BinOp::Or, a, b)
            }
            ExprKind::And(..) | ExprKind::Or(..) => self.truth_by_branches(expr),
            ExprKind::Conditional(condition, then, otherwise) => {
                return self.conditional(condition, then, otherwise, expr, hint);
            }
            ExprKind::Comma(a, b) => {
                self.discard(a);
                return self.eval(b, hint);
            }
            ExprKind::Assign { place, value, access } => {
                return self.assignment(place, value, AccessMode::of(*access), span, true);
            }
            ExprKind::Modify { .. } => self.modify(expr, true),
            ExprKind::Call { function, arguments } => {
                return self.call(function, arguments, expr, hint);
            }
            ExprKind::Intrinsic(intrinsic) => {
                return self.intrinsic(intrinsic, expr, hint, true);
            }
            ExprKind::Statements(stmts) => return self.statements_value(stmts, expr, hint),
        })
    }

    /// Evaluates an expression for its effects.
    pub(super) fn discard(&mut self, expr: &'p TypedExpr) {
        match &expr.kind {
            ExprKind::Convert(inner) if matches!(expr.ty.kind, TypeKind::Void) => {
                self.discard(inner);
            }
            ExprKind::Assign { place, value, access } => {
                if self.is_live() && self.spend(expr.span) {
                    self.assignment(place, value, AccessMode::of(*access), expr.span, false);
                }
            }
            ExprKind::Modify { .. } if self.is_live() => {
                self.modify(expr, false);
            }
            ExprKind::Comma(a, b) => {
                self.discard(a);
                self.discard(b);
            }
            ExprKind::Intrinsic(intrinsic) if self.is_live() => {
                self.intrinsic(intrinsic, expr, None, false);
            }
            _ => {
                self.eval(expr, None);
            }
        }
    }

    /// Evaluates the left operand. If the right one has effects, the value is kept.
    fn operand(&mut self, left: &'p TypedExpr, right: &TypedExpr) -> Val {
        let value = self.value(left);
        if self.is_pure(right) {
            return value;
        }
        let ty = scalar_type(&left.ty).unwrap_or(POINTER);
        if self.may_assign_locals(right) { self.keep(value, ty, left.span) } else { value }
    }

    /// Returns whether an expression may assign registers of local variables.
    fn may_assign_locals(&self, expr: &TypedExpr) -> bool {
        let writes = super::effects::writes([], [expr]);
        writes.others || !writes.locals.is_empty()
    }

    fn conversion(
        &mut self,
        expr: &'p TypedExpr,
        inner: &'p TypedExpr,
        hint: Option<&Type>,
    ) -> Value {
        let own = match &expr.ty.kind {
            TypeKind::Pointer(to) if !matches!(to.kind, TypeKind::Void) => Some(&**to),
            _ => hint,
        };
        let value = self.eval(inner, own);
        match scalar_type(&expr.ty) {
            Some(to) if scalar_type(&inner.ty).is_some() => {
                let value = value.scalar();
                if let TypeKind::Pointer(to) = &expr.ty.kind {
                    self.note_conversion(&value, to);
                }
                Value::Scalar(self.converted(value, to))
            }
            Some(_) => value,
            None if matches!(expr.ty.kind, TypeKind::Void) => Value::Void,
            None => value,
        }
    }

    /// Evaluates the truth of an expression: 0 or 1 is not guaranteed, but 0 means false.
    fn truth(&mut self, expr: &'p TypedExpr) -> Val {
        self.value(expr)
    }

    /// Evaluates `&&` or `||` with effects in the right operand.
    fn truth_by_branches(&mut self, expr: &'p TypedExpr) -> Val {
        let result = self.temporary(BOOL);
        let (yes, no, done) = (self.code.target(), self.code.target(), self.code.target());
        let (if_true, if_false) = self.branch_on(expr, yes, no);
        self.code.bind(yes);
        self.state = if_true;
        self.assign(result, Expr::Const(1), expr.span, 1);
        let after_true = self.state.clone();
        self.jump(done, expr.span);
        self.code.bind(no);
        self.state = if_false;
        self.assign(result, Expr::Const(0), expr.span, 0);
        self.code.bind(done);
        let after_false = self.state.take();
        self.state = self.merge(after_true, after_false, expr.span);
        self.register_value(result)
    }

    fn conditional(
        &mut self,
        condition: &'p TypedExpr,
        then: &'p TypedExpr,
        otherwise: &'p TypedExpr,
        expr: &'p TypedExpr,
        hint: Option<&Type>,
    ) -> Value {
        let scalar = scalar_type(&expr.ty);
        if scalar.is_some() && self.is_pure(then) && self.is_pure(otherwise) {
            let condition = self.value(condition);
            let then = self.value(then);
            let otherwise = self.value(otherwise);
            return Value::Scalar(select(condition, then, otherwise));
        }
        let results: Vec<_> = match scalar {
            Some(ty) => vec![self.temporary(ty)],
            None => {
                let scalars = self.pass.scalars(&expr.ty, expr.span);
                scalars.iter().map(|scalar| self.temporary(scalar.ty)).collect()
            }
        };
        let (yes, no, done) = (self.code.target(), self.code.target(), self.code.target());
        let (if_true, if_false) = self.branch_on(condition, yes, no);
        let both = if_true.is_some() && if_false.is_some();
        self.conditional += u32::from(both);
        let mut after: State = None;
        for (target, state, part) in [(yes, if_true, then), (no, if_false, otherwise)] {
            self.code.bind(target);
            self.state = state;
            if self.is_live() {
                let values = self.eval(part, hint).scalars();
                for (number, (reg, value)) in results.iter().zip(values).enumerate() {
                    self.assign(*reg, value, part.span, number as u32);
                }
            }
            let state = self.state.clone();
            self.jump(done, part.span);
            after = self.merge(after, state, expr.span);
        }
        self.code.bind(done);
        self.state = after;
        self.conditional -= u32::from(both);
        let values: Vec<Val> = results.iter().map(|reg| self.register_value(*reg)).collect();
        match (&expr.ty.kind, scalar) {
            (TypeKind::Void, _) => Value::Void,
            (_, Some(_)) => Value::Record(values.clone()).scalar().into(),
            (_, None) => Value::Record(values),
        }
    }

    fn assignment(
        &mut self,
        place: &'p Place,
        value: &'p TypedExpr,
        mode: AccessMode,
        span: Span,
        is_used: bool,
    ) -> Value {
        let Some(ty) = scalar_type(&place.ty) else {
            let values = self.eval(value, None).scalars();
            let spot = self.spot(place);
            self.store_record(&spot, &place.ty, values.clone(), span);
            return Value::Record(values);
        };
        let spot = self.spot(place);
        let hint = match &place.ty.kind {
            TypeKind::Pointer(to) if !matches!(to.kind, TypeKind::Void) => Some(&**to),
            _ => None,
        };
        let value = self.eval(value, hint).scalar();
        let cell = self.cell(spot, &place.ty, span);
        let value = if is_used { self.keep(value, ty, span) } else { value };
        self.store(&cell, value.clone(), ty, mode, (span, 0));
        Value::Scalar(value)
    }

    /// Evaluates a condition and jumps. Returns the knowledge at both targets. The position after it
    /// is not reachable.
    pub(super) fn branch_on(
        &mut self,
        expr: &'p TypedExpr,
        then: Target,
        otherwise: Target,
    ) -> (State, State) {
        if !self.is_live() {
            return (None, None);
        }
        if !self.is_pure(expr) {
            match &expr.kind {
                ExprKind::And(a, b) => {
                    let middle = self.code.target();
                    let (yes, no) = self.branch_on(a, middle, otherwise);
                    return self.second_branch(b, middle, (yes, no, true), then, otherwise);
                }
                ExprKind::Or(a, b) => {
                    let middle = self.code.target();
                    let (yes, no) = self.branch_on(a, then, middle);
                    return self.second_branch(b, middle, (no, yes, false), then, otherwise);
                }
                ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b)
                    if b.kind == ExprKind::Const(0) =>
                {
                    if *op == BinaryOp::Ne {
                        return self.branch_on(a, then, otherwise);
                    }
                    let (yes, no) = self.branch_on(a, otherwise, then);
                    return (no, yes);
                }
                ExprKind::Convert(inner) if keeps_truth(expr, inner) => {
                    return self.branch_on(inner, then, otherwise);
                }
                ExprKind::Comma(a, b) => {
                    self.discard(a);
                    return self.branch_on(b, then, otherwise);
                }
                ExprKind::Intrinsic(intrinsic) if **intrinsic == Intrinsic::Nondet => {
                    let value = self.choose(BOOL, 0, 1, expr.span);
                    return self.branch_value(value, then, otherwise, expr.span);
                }
                _ => {}
            }
        }
        let value = self.value(expr);
        self.branch_value(value, then, otherwise, expr.span)
    }

    fn second_branch(
        &mut self,
        expr: &'p TypedExpr,
        middle: Target,
        (continues, leaves, leaves_false): (State, State, bool),
        then: Target,
        otherwise: Target,
    ) -> (State, State) {
        self.code.bind(middle);
        self.state = continues;
        let is_conditional = leaves.is_some() && self.is_live();
        self.conditional += u32::from(is_conditional);
        let (yes, no) = self.branch_on(expr, then, otherwise);
        self.conditional -= u32::from(is_conditional);
        self.state = None;
        if leaves_false {
            (yes, self.merge(leaves, no, expr.span))
        } else {
            (self.merge(leaves, yes, expr.span), no)
        }
    }

    /// Jumps by a value.
    pub(super) fn branch_value(
        &mut self,
        value: Val,
        then: Target,
        otherwise: Target,
        span: Span,
    ) -> (State, State) {
        match value.as_const() {
            Some(value) => {
                let state = self.state.clone();
                self.jump(if value != 0 { then } else { otherwise }, span);
                if value != 0 { (state, None) } else { (None, state) }
            }
            None => {
                self.emit_branch(value, then, otherwise, span);
                let state = self.state.take();
                (state.clone(), state)
            }
        }
    }

    /// Returns whether the evaluation of an expression emits no statements.
    pub(super) fn is_pure(&self, expr: &TypedExpr) -> bool {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Function(_) => true,
            ExprKind::Load(place, _) => self.is_pure_place(place, true),
            ExprKind::AddressOf(place) => self.is_pure_place(place, false),
            ExprKind::Negate(a) | ExprKind::Complement(a) | ExprKind::Convert(a) => self.is_pure(a),
            ExprKind::Binary(_, a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::PointerAdd { pointer: a, index: b, .. }
            | ExprKind::PointerDifference { left: a, right: b, .. } => {
                self.is_pure(a) && self.is_pure(b)
            }
            ExprKind::Conditional(a, b, c) => self.is_pure(a) && self.is_pure(b) && self.is_pure(c),
            ExprKind::Comma(..)
            | ExprKind::Assign { .. }
            | ExprKind::Modify { .. }
            | ExprKind::Call { .. }
            | ExprKind::Intrinsic(_)
            | ExprKind::Statements(_) => false,
        }
    }

    fn is_pure_place(&self, place: &Place, is_read: bool) -> bool {
        match &place.kind {
            PlaceKind::Variable(VariableId::Local(local)) => {
                match self.frame().slots.get(*local as usize) {
                    Some(slot) if is_read && self.may_be_unset(*slot) => false,
                    Some(Slot::Register(..)) => true,
                    Some(Slot::Object(id)) => !is_read || self.held.contains_key(id),
                    Some(Slot::None) | None => false,
                }
            }
            PlaceKind::Variable(VariableId::Global(_)) => !is_read,
            PlaceKind::Deref(pointer) => !is_read && self.is_pure(pointer),
            PlaceKind::Field(base, _) => self.is_pure_place(base, is_read),
            PlaceKind::Index(base, index) => {
                let constant = matches!(index.kind, ExprKind::Const(_));
                self.is_pure_place(base, is_read) && (constant || (!is_read && self.is_pure(index)))
            }
            PlaceKind::Compound { .. } | PlaceKind::Value(_) => false,
        }
    }

    /// Evaluates `({ ... })`.
    fn statements_value(
        &mut self,
        stmts: &'p [Stmt],
        expr: &'p TypedExpr,
        hint: Option<&Type>,
    ) -> Value {
        self.scoped(expr.span, |lowerer| {
            let (last, before) = match stmts.split_last() {
                Some((Stmt { kind: StmtKind::Expr(last), .. }, before)) => (Some(last), before),
                _ => (None, stmts),
            };
            before.iter().for_each(|stmt| lowerer.stmt(stmt));
            let Some(last) = last else { return Value::Void };
            if matches!(expr.ty.kind, TypeKind::Void) {
                lowerer.discard(last);
                return Value::Void;
            }
            // The variables of the block end here.
            match lowerer.eval(last, hint) {
                Value::Scalar(value) => {
                    let ty = scalar_type(&last.ty).unwrap_or(POINTER);
                    Value::Scalar(lowerer.keep(value, ty, last.span))
                }
                Value::Record(values) => {
                    let scalars = lowerer.pass.scalars(&last.ty, last.span);
                    let kept = values.into_iter().zip(scalars.iter());
                    Value::Record(
                        kept.map(|(value, s)| lowerer.keep(value, s.ty, last.span)).collect(),
                    )
                }
                Value::Void => Value::Void,
            }
        })
    }
}

impl From<Val> for Value {
    fn from(value: Val) -> Self {
        Value::Scalar(value)
    }
}

/// Returns whether a conversion keeps whether a value is 0.
fn keeps_truth(expr: &TypedExpr, inner: &TypedExpr) -> bool {
    match (scalar_type(&expr.ty), scalar_type(&inner.ty)) {
        (Some(to), Some(from)) => to.is_bool || to.bits >= from.bits,
        (None, _) | (_, None) => false,
    }
}
