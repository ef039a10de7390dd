//! The widths of expressions: 32 bits, or 64 bits if an operand has 64 bits.
//!
//! DIVERGENCE: casts are dropped, and unsigned numbers are treated as signed ones. The width of a
//! location behind a computed address is that of the widest location.

use fencepost_ir::{BinOp, UnOp, is_int};

use super::super::ast::{Expression, ExpressionKind};
use super::Lowerer;
use super::value::NameKind;

impl Lowerer<'_> {
    /// Records the width of a local.
    pub(super) fn set_64_bit(&mut self, name: &str, is_64_bit: bool) {
        if let Some(local) = self.locals.get_mut(name) {
            local.is_64_bit |= is_64_bit;
        }
    }

    /// Returns whether the value of an expression has 64 bits.
    pub(super) fn is_64_bit(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Number(value) => {
                i64::try_from(*value).map_or(true, |value| !is_int(value))
            }
            ExpressionKind::Name(name) => match self.resolve_name(name) {
                Some(NameKind::Local(local)) => local.is_64_bit && !local.pointer,
                Some(NameKind::Location) => self.layout.is_64_bit(name),
                Some(NameKind::Address) | None => false,
            },
            ExpressionKind::Unary(UnOp::Not, _) => false,
            ExpressionKind::Unary(UnOp::Neg | UnOp::BitNot, a) => self.is_64_bit(a),
            ExpressionKind::Binary(op, a, b) => match op {
                BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem => {
                    self.is_64_bit(a) || self.is_64_bit(b)
                }
                BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor | BinOp::Wide(_) => {
                    self.is_64_bit(a) || self.is_64_bit(b)
                }
                BinOp::Shl | BinOp::Shr => self.is_64_bit(a),
                BinOp::Eq
                | BinOp::Ne
                | BinOp::Lt
                | BinOp::Le
                | BinOp::Gt
                | BinOp::Ge
                | BinOp::And
                | BinOp::Or => false,
            },
            ExpressionKind::Select(_, a, b) => self.is_64_bit(a) || self.is_64_bit(b),
            ExpressionKind::Deref(address) => self.points_to_64_bits(address),
            ExpressionKind::Index(name, _) => self.layout.is_64_bit(name),
            ExpressionKind::AddressOf(_) => false,
            ExpressionKind::Call(_, arguments) => arguments
                .iter()
                .any(|argument| self.is_64_bit(argument) || self.points_to_64_bits(argument)),
        }
    }

    /// Returns whether an expression is the address of a location with 64 bits.
    pub(super) fn points_to_64_bits(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Name(name) => match self.resolve_name(name) {
                Some(NameKind::Address) => self.layout.is_64_bit(name),
                Some(NameKind::Local(local)) => local.pointer && local.is_64_bit,
                Some(NameKind::Location) | None => false,
            },
            ExpressionKind::AddressOf(place) => self.is_64_bit(place),
            _ => self.is_address(expression) && self.layout.has_64_bit_location(),
        }
    }
}
