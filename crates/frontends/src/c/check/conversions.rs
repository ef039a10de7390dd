//! Conversions: integer promotions, the usual arithmetic conversions and those of assignments.
//!
//! DIVERGENCE: pointers to different types, and pointers and integers, are converted with a warning,
//! as many compilers do.

use fencepost_ir::Span;

use super::constants::wrap;
use super::{Checker, int};
use crate::c::ast;
use crate::c::codes;
use crate::c::typed::{Expr, ExprKind, IntType, Qualifiers, Type, TypeKind};

/// What happens to a converted value, for messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    Assign,
    Initialize,
    Pass,
    Return,
}

impl Purpose {
    fn phrase(self) -> &'static str {
        match self {
            Purpose::Assign => "assigned to an object of type",
            Purpose::Initialize => "the initial value of an object of type",
            Purpose::Pass => "passed as a parameter of type",
            Purpose::Return => "returned as",
        }
    }
}

/// Returns the type of a value that is read from an object: without qualifiers.
pub(super) fn unqualified(ty: &Type) -> Type {
    Type { kind: ty.kind.clone(), qualifiers: Qualifiers::default() }
}

/// Returns the type after integer promotion.
pub(super) fn promoted(ty: IntType) -> IntType {
    if ty.bits < 32 { IntType { bits: 32, signed: true, is_bool: false } } else { ty }
}

/// Returns the type in which two integers are computed.
pub(super) fn common(left: IntType, right: IntType) -> IntType {
    let (left, right) = (promoted(left), promoted(right));
    let bits = left.bits.max(right.bits);
    // A smaller unsigned type fits into a larger signed one.
    let is_unsigned = |ty: IntType| !ty.signed && ty.bits == bits;
    IntType { bits, signed: !is_unsigned(left) && !is_unsigned(right), is_bool: false }
}

/// Returns a type with an integer kind.
pub(super) fn int_type(ty: IntType) -> Type {
    Type::plain(TypeKind::Int(ty))
}

/// Returns a constant.
pub(super) fn constant(value: i64, ty: Type, span: Span) -> Expr {
    Expr { kind: ExprKind::Const(value), ty, span }
}

/// Converts a value to a type. The conversion must be allowed.
pub(super) fn convert(expr: Expr, to: &Type) -> Expr {
    let ty = unqualified(to);
    let span = expr.span;
    if expr.ty.kind == ty.kind {
        return Expr { ty, ..expr };
    }
    match (&expr.kind, &ty.kind) {
        (ExprKind::Const(value), TypeKind::Int(int)) => constant(wrap(*value, *int), ty, span),
        (ExprKind::Const(value), TypeKind::Pointer(_)) => constant(*value, ty, span),
        _ => Expr { kind: ExprKind::Convert(Box::new(expr)), ty, span },
    }
}

/// Promotes an integer. Other values do not change.
pub(super) fn promote(expr: Expr) -> Expr {
    match expr.ty.kind {
        TypeKind::Int(ty) => convert(expr, &int_type(promoted(ty))),
        _ => expr,
    }
}

/// Returns whether an expression is a null pointer constant.
pub(super) fn is_null(expr: &Expr) -> bool {
    let ty = match &expr.ty.kind {
        TypeKind::Int(_) => true,
        TypeKind::Pointer(to) => matches!(to.kind, TypeKind::Void),
        _ => false,
    };
    ty && matches!(expr.kind, ExprKind::Const(0))
}

/// Returns whether a type is an integer or a pointer.
pub(super) fn is_scalar(ty: &Type) -> bool {
    matches!(ty.kind, TypeKind::Int(_) | TypeKind::Pointer(_))
}

/// Returns whether two types are the same apart from qualifiers and signs.
pub(super) fn compatible(left: &Type, right: &Type) -> bool {
    match (&left.kind, &right.kind) {
        (TypeKind::Int(left), TypeKind::Int(right)) => left.bits == right.bits,
        (TypeKind::Pointer(left), TypeKind::Pointer(right)) => points_to_compatible(left, right),
        (TypeKind::Array(left, a), TypeKind::Array(right, b)) => {
            (a == b || *a == super::UNSIZED || *b == super::UNSIZED) && compatible(left, right)
        }
        (TypeKind::Function(left), TypeKind::Function(right)) => {
            let is_open = |f: &crate::c::typed::FunctionType| f.variadic && f.parameters.is_empty();
            let (a, b) = (&left.parameters, &right.parameters);
            compatible(&left.result, &right.result)
                && (is_open(left)
                    || is_open(right)
                    || (a.len() == b.len() && a.iter().zip(b).all(|(a, b)| compatible(a, b))))
        }
        (left, right) => left == right,
    }
}

/// Returns whether pointers to two types convert into each other without a warning.
pub(super) fn points_to_compatible(left: &Type, right: &Type) -> bool {
    matches!(left.kind, TypeKind::Void)
        || matches!(right.kind, TypeKind::Void)
        || compatible(left, right)
}

impl Checker<'_> {
    /// Converts a value as an assignment does, or reports an error.
    pub(super) fn assignable(&mut self, value: Expr, to: &Type, purpose: Purpose) -> Option<Expr> {
        let span = value.span;
        if let TypeKind::Unsupported { name, .. } = &to.kind {
            let name = name.clone();
            self.unsupported_type(&name, span);
            return None;
        }
        let allowed = match (&value.ty.kind, &to.kind) {
            (TypeKind::Int(_), TypeKind::Int(_)) => true,
            (TypeKind::Pointer(_), TypeKind::Int(int)) => {
                if !int.is_bool {
                    self.pointer_warning(codes::POINTER_INTEGER, &value.ty, to, span);
                }
                true
            }
            (_, TypeKind::Pointer(_)) if is_null(&value) => true,
            (TypeKind::Int(_), TypeKind::Pointer(_)) => {
                self.pointer_warning(codes::POINTER_INTEGER, &value.ty, to, span);
                true
            }
            (TypeKind::Pointer(from), TypeKind::Pointer(to_what)) => {
                if !points_to_compatible(from, to_what) {
                    self.pointer_warning(codes::POINTER_TYPES, &value.ty, to, span);
                }
                true
            }
            (TypeKind::Record(from), TypeKind::Record(to)) => from == to,
            _ => false,
        };
        if allowed {
            return Some(convert(value, to));
        }
        let (from, target) = (self.type_text(&value.ty), self.type_text(&unqualified(to)));
        let message = format!("a value of type `{from}` cannot be {} `{target}`", purpose.phrase());
        self.error(codes::TYPE_MISMATCH, span, message).label(format!("this has type `{from}`"));
        None
    }

    fn pointer_warning(&mut self, code: &'static str, from: &Type, to: &Type, span: Span) {
        let (from, to) = (self.type_text(from), self.type_text(&unqualified(to)));
        let message = format!("a value of type `{from}` is used as `{to}`");
        let hint = format!("write `({to})` before the value if this is intended");
        self.diagnostics.warning(code, span, message).hint(hint);
    }

    /// Checks the condition of `if`, `while`, `&&`, ...: an integer or a pointer.
    pub(super) fn condition(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let value = self.value(expr)?;
        self.scalar(value, "a condition")
    }

    /// Returns the value if it is an integer or a pointer, or reports an error.
    pub(super) fn scalar(&mut self, value: Expr, what: &str) -> Option<Expr> {
        if is_scalar(&value.ty) {
            return Some(value);
        }
        let ty = self.type_text(&value.ty);
        let message = format!("{what} is an integer or a pointer, but this has type `{ty}`");
        self.error(codes::TYPE_MISMATCH, value.span, message);
        None
    }

    /// Checks an expression of an integer type.
    pub(super) fn integer(&mut self, expr: &ast::Expr, what: &str) -> Option<(Expr, IntType)> {
        let value = self.value(expr)?;
        if let TypeKind::Int(ty) = value.ty.kind {
            return Some((value, ty));
        }
        let ty = self.type_text(&value.ty);
        let message = format!("{what} is an integer, but this has type `{ty}`");
        self.error(codes::TYPE_MISMATCH, value.span, message);
        None
    }

    /// Checks an expression and converts it to `int`, as for memory orders.
    pub(super) fn int_argument(&mut self, expr: &ast::Expr, what: &str) -> Option<Expr> {
        let (value, _) = self.integer(expr, what)?;
        Some(convert(value, &int()))
    }

    /// Reports a value of a type that is not supported.
    pub(super) fn unsupported_type(&mut self, name: &str, span: Span) {
        let message = format!("values of type `{name}` are not supported");
        self.error(codes::UNSUPPORTED_TYPE, span, message)
            .hint("use an integer type: values that decide about concurrency are integers");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_has_the_type_of_c() {
        let of = |bits, signed| IntType { bits, signed, is_bool: false };
        assert_eq!(common(of(8, false), of(16, false)), of(32, true));
        assert_eq!(common(of(32, false), of(32, true)), of(32, false));
        assert_eq!(common(of(32, false), of(64, true)), of(64, true));
        assert_eq!(common(of(64, false), of(64, true)), of(64, false));
        assert_eq!(common(of(32, true), of(64, false)), of(64, false));
    }
}
