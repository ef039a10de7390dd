//! Lowers arithmetic on addresses: `a + 1`, `1 + a`, `p - 1`, `p - a`.
//!
//! As in C, the unit is the size of an element. Types of locals are not known, so all arrays that a
//! computed address may point to must have the same element size.

use fencepost_ir::{BinOp, Expr, Reg, Span};

use super::super::super::error::LitmusError;
use super::super::ast::Expression;
use super::Lowerer;
use super::value::binary;

impl Lowerer<'_> {
    /// Lowers a sum or difference in which at least one operand is an address.
    pub(super) fn address_arithmetic(
        &mut self,
        op: BinOp,
        a: &Expression,
        b: &Expression,
        span: Span,
    ) -> Result<Expr<Reg>, LitmusError> {
        let (is_a, is_b) = (self.is_address(a), self.is_address(b));
        if is_b && (op == BinOp::Add) == is_a {
            let message = match op {
                BinOp::Add => "two addresses cannot be added",
                _ => "an address cannot be subtracted from a number",
            };
            return Err(LitmusError::syntax(span, message));
        }
        let size = self.layout.element_size().ok_or_else(|| {
            let message = "arithmetic on addresses is not supported in a test with elements of \
                           different sizes";
            LitmusError::unsupported(span, message).hint("write an array element as `a[1]`")
        })?;
        let (a, b) = (self.value(a)?, self.value(b)?);
        let scaled = |count| binary(BinOp::Mul, count, Expr::Const(size));
        Ok(match (is_a, is_b) {
            (true, true) => binary(BinOp::Div, binary(BinOp::Sub, a, b), Expr::Const(size)),
            (true, false) => binary(op, a, scaled(b)),
            (false, _) => binary(op, scaled(a), b),
        })
    }
}
