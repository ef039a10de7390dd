//! Operators: arithmetic, comparisons, assignments and conditionals.

use fencepost_ir::Span;

use super::constants::wrap;
use super::conversions::{
    Purpose, common, constant, convert, int_type, is_null, points_to_compatible, promote, promoted,
    unqualified,
};
use super::declarations::declare_stmt;
use super::expressions::{Operand, access, load};
use super::{Checker, int, long, void, void_pointer};
use crate::c::ast;
use crate::c::codes;
use crate::c::typed::{
    BinaryOp, Expr, ExprKind, Init, InitItem, Place, PlaceKind, Stmt, StmtKind, Type, TypeKind,
    Variable, VariableId,
};

/// Returns an operator as C writes it.
pub(super) fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
    }
}

/// Returns the comparison that is true where this one is false, or `None` for other operators.
fn inverse(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Lt => Some(BinaryOp::Ge),
        BinaryOp::Le => Some(BinaryOp::Gt),
        BinaryOp::Gt => Some(BinaryOp::Le),
        BinaryOp::Ge => Some(BinaryOp::Lt),
        BinaryOp::Eq => Some(BinaryOp::Ne),
        BinaryOp::Ne => Some(BinaryOp::Eq),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::BitAnd
        | BinaryOp::BitXor
        | BinaryOp::BitOr => None,
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    inverse(op).is_some()
}

fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Shl | BinaryOp::Shr)
}

/// Returns an operator on two values.
pub(super) fn binary_expr(op: BinaryOp, left: Expr, right: Expr, ty: Type, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span }
}

/// Negates a value of an integer type.
fn negate(value: Expr, span: Span) -> Expr {
    let ty = value.ty.clone();
    match (&value.kind, &ty.kind) {
        (ExprKind::Const(number), TypeKind::Int(int)) => {
            constant(wrap(number.wrapping_neg(), *int), ty, span)
        }
        _ => Expr { kind: ExprKind::Negate(Box::new(value)), ty, span },
    }
}

fn complement(value: Expr, span: Span) -> Expr {
    let ty = value.ty.clone();
    match (&value.kind, &ty.kind) {
        (ExprKind::Const(number), TypeKind::Int(int)) => constant(wrap(!number, *int), ty, span),
        _ => Expr { kind: ExprKind::Complement(Box::new(value)), ty, span },
    }
}

impl Checker<'_> {
    pub(super) fn unary(
        &mut self,
        op: ast::UnaryOp,
        operand: &ast::Expr,
        span: Span,
    ) -> Option<Operand> {
        match op {
            ast::UnaryOp::Address => self.address_of(operand, span).map(Operand::Value),
            ast::UnaryOp::Deref => self.deref(operand, span),
            ast::UnaryOp::Plus | ast::UnaryOp::Minus | ast::UnaryOp::BitNot => {
                self.arithmetic(op, operand, span).map(Operand::Value)
            }
            ast::UnaryOp::Not => self.not(operand, span).map(Operand::Value),
        }
    }

    fn deref(&mut self, operand: &ast::Expr, span: Span) -> Option<Operand> {
        // `*&x` is `x`.
        if let ast::ExprKind::Unary { op: ast::UnaryOp::Address, operand } = &operand.kind {
            return self.operand(operand);
        }
        let pointer = self.value(operand)?;
        self.dereference(pointer, span)
    }

    /// `+x`, `-x` and `~x`.
    fn arithmetic(&mut self, op: ast::UnaryOp, operand: &ast::Expr, span: Span) -> Option<Expr> {
        let what = match op {
            ast::UnaryOp::Minus => "the operand of `-`",
            ast::UnaryOp::BitNot => "the operand of `~`",
            _ => "the operand of `+`",
        };
        let value = promote(self.integer(operand, what)?.0);
        Some(match op {
            ast::UnaryOp::Minus => negate(value, span),
            ast::UnaryOp::BitNot => complement(value, span),
            _ => value,
        })
    }

    fn not(&mut self, operand: &ast::Expr, span: Span) -> Option<Expr> {
        let value = promote(self.condition(operand)?);
        // `!(a < b)` is `a >= b`.
        if let ExprKind::Binary(op, left, right) = &value.kind
            && let Some(op) = inverse(*op)
        {
            let kind = ExprKind::Binary(op, left.clone(), right.clone());
            return Some(Expr { kind, span, ..value });
        }
        let zero = constant(0, value.ty.clone(), span);
        Some(binary_expr(BinaryOp::Eq, value, zero, int(), span))
    }

    fn address_of(&mut self, operand: &ast::Expr, span: Span) -> Option<Expr> {
        let place = match self.operand(operand)? {
            Operand::Place(place) => place,
            Operand::Function(value) => return Some(value),
            Operand::Value(_) => {
                self.error(codes::NOT_A_PLACE, operand.span, "a value has no address")
                    .hint("store the value in a variable first");
                return None;
            }
        };
        self.mark_address(&place);
        // `&*p` is `p`.
        if let PlaceKind::Deref(pointer) = place.kind {
            return Some(Expr { span, ..*pointer });
        }
        let ty = Type::pointer(place.ty.clone());
        Some(Expr { kind: ExprKind::AddressOf(place), ty, span })
    }

    pub(super) fn binary_operands(
        &mut self,
        op: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Option<Expr> {
        let (left, right) = (self.value(left), self.value(right));
        self.binary(op, left?, right?, span)
    }

    /// `&&` or `||`.
    pub(super) fn logical(
        &mut self,
        is_and: bool,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Option<Expr> {
        let (left, right) = (self.condition(left), self.condition(right));
        let (left, right) = (Box::new(left?), Box::new(right?));
        let kind = if is_and { ExprKind::And(left, right) } else { ExprKind::Or(left, right) };
        Some(Expr { kind, ty: int(), span })
    }

    /// Checks an operator on two values.
    fn binary(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Option<Expr> {
        match (&left.ty.kind, &right.ty.kind) {
            (TypeKind::Int(a), TypeKind::Int(b)) => {
                if is_shift(op) {
                    let (left, right) = (promote(left), promote(right));
                    let ty = left.ty.clone();
                    return Some(binary_expr(op, left, right, ty, span));
                }
                let ty = int_type(common(*a, *b));
                let (left, right) = (convert(left, &ty), convert(right, &ty));
                let result = if is_comparison(op) { int() } else { ty };
                Some(binary_expr(op, left, right, result, span))
            }
            (TypeKind::Pointer(_), TypeKind::Int(_))
                if matches!(op, BinaryOp::Add | BinaryOp::Sub) =>
            {
                self.pointer_add(left, right, op == BinaryOp::Sub, span)
            }
            (TypeKind::Int(_), TypeKind::Pointer(_)) if op == BinaryOp::Add => {
                self.pointer_add(right, left, false, span)
            }
            (TypeKind::Pointer(to), TypeKind::Pointer(_)) if op == BinaryOp::Sub => {
                let to = (**to).clone();
                let size = self.complete_size(&to, span)?.max(1);
                let (left, right) = (Box::new(left), Box::new(right));
                let kind = ExprKind::PointerDifference { left, right, size };
                Some(Expr { kind, ty: long(), span })
            }
            (TypeKind::Pointer(_), TypeKind::Pointer(_) | TypeKind::Int(_))
            | (TypeKind::Int(_), TypeKind::Pointer(_))
                if is_comparison(op) =>
            {
                self.pointer_comparison(op, left, right, span)
            }
            _ => {
                let (a, b) = (self.type_text(&left.ty), self.type_text(&right.ty));
                let message = format!("`{}` cannot be applied to `{a}` and `{b}`", symbol(op));
                let spans = (left.span, right.span);
                self.error(codes::TYPE_MISMATCH, span, message)
                    .related(spans.0, format!("this has type `{a}`"))
                    .related(spans.1, format!("this has type `{b}`"));
                None
            }
        }
    }

    /// Adds an index to a pointer, or subtracts it.
    pub(super) fn pointer_add(
        &mut self,
        pointer: Expr,
        index: Expr,
        subtract: bool,
        span: Span,
    ) -> Option<Expr> {
        let ty = pointer.ty.clone();
        let TypeKind::Pointer(to) = &ty.kind else { return None };
        let size = self.complete_size(to, span)?;
        let index = convert(index, &long());
        let index = if subtract { negate(index, span) } else { index };
        let (pointer, index) = (Box::new(pointer), Box::new(index));
        Some(Expr { kind: ExprKind::PointerAdd { pointer, index, size }, ty, span })
    }

    fn pointer_comparison(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Option<Expr> {
        let suspicious = match (&left.ty.kind, &right.ty.kind) {
            _ if is_null(&left) || is_null(&right) => None,
            (TypeKind::Pointer(a), TypeKind::Pointer(b)) if !points_to_compatible(a, b) => {
                Some((codes::POINTER_TYPES, "pointers to different types are compared"))
            }
            (TypeKind::Pointer(_), TypeKind::Pointer(_)) => None,
            _ => Some((codes::POINTER_INTEGER, "a pointer is compared with an integer")),
        };
        if let Some((code, message)) = suspicious {
            let (a, b) = (self.type_text(&left.ty), self.type_text(&right.ty));
            self.diagnostics
                .warning(code, span, message)
                .label(format!("`{a}` and `{b}`"))
                .hint("cast one of them if this is intended");
        }
        let ty = match (&left.ty.kind, &right.ty.kind) {
            (TypeKind::Pointer(_), _) if !is_null(&left) => left.ty.clone(),
            (_, TypeKind::Pointer(_)) => right.ty.clone(),
            _ => left.ty.clone(),
        };
        let (left, right) = (convert(left, &ty), convert(right, &ty));
        Some(binary_expr(op, left, right, int(), span))
    }

    pub(super) fn assignment(
        &mut self,
        op: Option<BinaryOp>,
        target: &ast::Expr,
        value: &ast::Expr,
        span: Span,
    ) -> Option<Expr> {
        let place = self.target(target);
        let value = self.value(value);
        let (place, value) = (place?, value?);
        if let Some(op) = op {
            return self.modify(place, op, value, false, span);
        }
        let value = self.assignable(value, &place.ty, Purpose::Assign)?;
        Some(assign(place, value, span))
    }

    /// Checks the target of an assignment.
    fn target(&mut self, target: &ast::Expr) -> Option<Place> {
        let place = self.place(target, "assigned to")?;
        if is_temporary(&place) {
            self.error(codes::NOT_A_PLACE, target.span, "this expression cannot be assigned to")
                .label("a part of a value that is not stored anywhere");
            return None;
        }
        if let TypeKind::Array(..) = place.ty.kind {
            let ty = self.type_text(&place.ty);
            self.error(codes::TYPE_MISMATCH, target.span, "an array cannot be assigned to")
                .label(format!("this has type `{ty}`"))
                .hint("assign to its elements, or use `memcpy`");
            return None;
        }
        self.complete_size(&place.ty, target.span)?;
        Some(place)
    }

    /// `++x`, `x--`, ...
    pub(super) fn step(
        &mut self,
        increment: bool,
        prefix: bool,
        operand: &ast::Expr,
        span: Span,
    ) -> Option<Expr> {
        let place = self.target(operand)?;
        let op = if increment { BinaryOp::Add } else { BinaryOp::Sub };
        self.modify(place, op, constant(1, int(), span), !prefix, span)
    }

    fn modify(
        &mut self,
        place: Place,
        op: BinaryOp,
        value: Expr,
        yields_old: bool,
        span: Span,
    ) -> Option<Expr> {
        let ty = unqualified(&place.ty);
        let (computed, value) = match (&ty.kind, &value.ty.kind) {
            (TypeKind::Int(target), TypeKind::Int(other)) => {
                let computed =
                    if is_shift(op) { promoted(*target) } else { common(*target, *other) };
                let computed = int_type(computed);
                let value = convert(value, &computed);
                (computed, value)
            }
            (TypeKind::Pointer(to), TypeKind::Int(_))
                if matches!(op, BinaryOp::Add | BinaryOp::Sub) =>
            {
                self.complete_size(to, span)?;
                (ty.clone(), convert(value, &long()))
            }
            _ => {
                let (a, b) = (self.type_text(&ty), self.type_text(&value.ty));
                let message = format!("`{}` cannot be applied to `{a}` and `{b}`", symbol(op));
                self.error(codes::TYPE_MISMATCH, span, message);
                return None;
            }
        };
        let access = access(&place.ty);
        let value = Box::new(value);
        let kind = ExprKind::Modify { place, op, value, computed, yields_old, access };
        Some(Expr { kind, ty, span })
    }

    pub(super) fn conditional(
        &mut self,
        condition: &ast::Expr,
        then: Option<&ast::Expr>,
        otherwise: &ast::Expr,
        span: Span,
    ) -> Option<Expr> {
        let condition = self.condition(condition);
        let Some(then) = then else {
            let otherwise = self.value(otherwise);
            return self.elvis(condition?, otherwise?, span);
        };
        let (then, otherwise) = (self.value(then), self.value(otherwise));
        self.choose(condition?, then?, otherwise?, span)
    }

    /// `a ?: c` of GNU C: `a` is evaluated once.
    fn elvis(&mut self, condition: Expr, otherwise: Expr, span: Span) -> Option<Expr> {
        if self.evaluate(&condition).is_ok() {
            return self.choose(condition.clone(), condition, otherwise, span);
        }
        let (declare, value) = self.temporary(condition, span);
        let chosen = self.choose(value.clone(), value, otherwise, span)?;
        let ty = chosen.ty.clone();
        let last = Stmt { kind: StmtKind::Expr(chosen), span };
        Some(Expr { kind: ExprKind::Statements(vec![declare, last]), ty, span })
    }

    /// Stores a value in a new local variable. Returns the declaration and the variable's value.
    pub(super) fn temporary(&mut self, value: Expr, span: Span) -> (Stmt, Expr) {
        let ty = value.ty.clone();
        let local = self.add_local(Variable {
            name: "(temporary)".into(),
            ty: ty.clone(),
            span,
            thread_local: false,
            address_taken: false,
            init: None,
        });
        let init = Init { zero: false, items: vec![InitItem { offset: 0, value }] };
        let place = Place { kind: PlaceKind::Variable(VariableId::Local(local)), ty, span };
        (declare_stmt(local, Some(init), span), load(place))
    }

    fn choose(&mut self, condition: Expr, then: Expr, otherwise: Expr, span: Span) -> Option<Expr> {
        let ty = self.common_type(&then, &otherwise, span)?;
        let as_common = |value: Expr| match ty.kind {
            TypeKind::Void if !matches!(value.ty.kind, TypeKind::Void) => {
                Expr { span: value.span, kind: ExprKind::Convert(Box::new(value)), ty: void() }
            }
            _ => convert(value, &ty),
        };
        let (then, otherwise) = (Box::new(as_common(then)), Box::new(as_common(otherwise)));
        let kind = ExprKind::Conditional(Box::new(condition), then, otherwise);
        Some(Expr { kind, ty, span })
    }

    /// Returns the type of a conditional expression.
    fn common_type(&mut self, left: &Expr, right: &Expr, span: Span) -> Option<Type> {
        match (&left.ty.kind, &right.ty.kind) {
            (TypeKind::Int(a), TypeKind::Int(b)) => return Some(int_type(common(*a, *b))),
            // One side may be `void`, as in GNU C.
            (TypeKind::Void, _) | (_, TypeKind::Void) => return Some(void()),
            (TypeKind::Record(a), TypeKind::Record(b)) if a == b => return Some(left.ty.clone()),
            (TypeKind::Pointer(_), _) if is_null(right) => return Some(left.ty.clone()),
            (_, TypeKind::Pointer(_)) if is_null(left) => return Some(right.ty.clone()),
            (TypeKind::Pointer(a), TypeKind::Pointer(b)) => {
                if matches!(a.kind, TypeKind::Void) || matches!(b.kind, TypeKind::Void) {
                    return Some(void_pointer());
                }
                if points_to_compatible(a, b) {
                    return Some(left.ty.clone());
                }
            }
            _ => {}
        }
        let (a, b) = (self.type_text(&left.ty), self.type_text(&right.ty));
        let message = format!("the values after `?` and `:` have types `{a}` and `{b}`");
        self.error(codes::TYPE_MISMATCH, span, message).hint("cast one of them");
        None
    }
}

/// Returns an assignment.
pub(super) fn assign(place: Place, value: Expr, span: Span) -> Expr {
    let (ty, access) = (unqualified(&place.ty), access(&place.ty));
    Expr { kind: ExprKind::Assign { place, value: Box::new(value), access }, ty, span }
}

/// Returns whether a place is part of a value that is not stored anywhere.
fn is_temporary(place: &Place) -> bool {
    match &place.kind {
        PlaceKind::Value(_) => true,
        PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => is_temporary(base),
        PlaceKind::Variable(_) | PlaceKind::Deref(_) | PlaceKind::Compound { .. } => false,
    }
}
