//! `__builtin_popcount` and its relatives, as arithmetic on 64-bit numbers.
//!
//! Source: Warren, Hacker's Delight, chapter 5.

use fencepost_ir::Span;

use super::conversions::{constant, convert};
use super::expressions::size_type;
use super::operators::binary_expr;
use super::{Checker, int};
use crate::c::typed::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, Type};

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BitCount {
    Ones,
    TrailingZeros,
    LeadingZeros,
    /// The position of the lowest bit, from 1; 0 if there is none.
    FirstSet,
    Parity,
}

/// Builds a sequence of temporaries.
struct Builder<'c, 'a> {
    checker: &'c mut Checker<'a>,
    items: Vec<Stmt>,
    span: Span,
}

impl Builder<'_, '_> {
    fn number(&self, value: u64) -> Expr {
        constant(value as i64, size_type(), self.span)
    }

    fn op(&self, op: BinaryOp, left: &Expr, right: Expr) -> Expr {
        binary_expr(op, left.clone(), right, size_type(), self.span)
    }

    fn op_number(&self, op: BinaryOp, left: &Expr, right: u64) -> Expr {
        self.op(op, left, self.number(right))
    }

    /// Stores a value in a temporary.
    fn keep(&mut self, value: Expr) -> Expr {
        let (declare, value) = self.checker.temporary(value, self.span);
        self.items.push(declare);
        value
    }

    /// Returns the number of ones of `x`.
    fn ones(&mut self, x: Expr) -> Expr {
        const PAIRS: u64 = 0x5555_5555_5555_5555;
        const NIBBLES: u64 = 0x3333_3333_3333_3333;
        const BYTES: u64 = 0x0f0f_0f0f_0f0f_0f0f;
        const SUM: u64 = 0x0101_0101_0101_0101;
        let x = self.keep(x);
        let high = self.op_number(BinaryOp::Shr, &x, 1);
        let high = self.op_number(BinaryOp::BitAnd, &high, PAIRS);
        let pairs = self.op(BinaryOp::Sub, &x, high);
        let pairs = self.keep(pairs);
        let high = self.op_number(BinaryOp::Shr, &pairs, 2);
        let high = self.op_number(BinaryOp::BitAnd, &high, NIBBLES);
        let low = self.op_number(BinaryOp::BitAnd, &pairs, NIBBLES);
        let nibbles = self.op(BinaryOp::Add, &low, high);
        let nibbles = self.keep(nibbles);
        let high = self.op_number(BinaryOp::Shr, &nibbles, 4);
        let bytes = self.op(BinaryOp::Add, &nibbles, high);
        let bytes = self.op_number(BinaryOp::BitAnd, &bytes, BYTES);
        let sum = self.op_number(BinaryOp::Mul, &bytes, SUM);
        self.op_number(BinaryOp::Shr, &sum, 56)
    }

    /// Returns a value like `x` with all bits below the highest one set.
    fn smeared(&mut self, x: Expr) -> Expr {
        let mut x = x;
        for shift in [1, 2, 4, 8, 16, 32] {
            let lower = self.op_number(BinaryOp::Shr, &x, shift);
            let both = self.op(BinaryOp::BitOr, &x, lower);
            x = self.keep(both);
        }
        x
    }
}

impl Checker<'_> {
    /// Returns the count of the bits of a value with `width` bits.
    pub(super) fn count_bits(
        &mut self,
        count: BitCount,
        width: u8,
        value: Expr,
        span: Span,
    ) -> Expr {
        let value = convert(convert(value, &Type::int(width, false)), &size_type());
        if let Ok(known) = self.evaluate(&value) {
            let bits = known as u64;
            let unused = 64 - u32::from(width);
            let result = match count {
                BitCount::Ones => bits.count_ones(),
                BitCount::TrailingZeros => bits.trailing_zeros().min(u32::from(width)),
                BitCount::LeadingZeros => bits.leading_zeros() - unused,
                BitCount::FirstSet if bits == 0 => 0,
                BitCount::FirstSet => bits.trailing_zeros() + 1,
                BitCount::Parity => bits.count_ones() % 2,
            };
            return constant(i64::from(result), int(), span);
        }
        let mut build = Builder { checker: self, items: Vec::new(), span };
        let x = build.keep(value);
        let result = match count {
            BitCount::Ones => build.ones(x),
            BitCount::TrailingZeros | BitCount::FirstSet => {
                // The ones below the lowest one, for `ffs` with that one.
                let less = build.op_number(BinaryOp::Sub, &x, 1);
                let changed = build.op(BinaryOp::BitXor, &x, less);
                let ones = build.ones(changed);
                match count {
                    BitCount::FirstSet => {
                        let (zero, no_bit) = (build.number(0), build.number(0));
                        let has_bit = binary_expr(BinaryOp::Ne, x, zero, int(), span);
                        let (ones, no_bit) = (Box::new(ones), Box::new(no_bit));
                        let kind = ExprKind::Conditional(Box::new(has_bit), ones, no_bit);
                        Expr { kind, ty: size_type(), span }
                    }
                    _ => build.op_number(BinaryOp::Sub, &ones, 1),
                }
            }
            BitCount::LeadingZeros => {
                let smeared = build.smeared(x);
                let ones = build.ones(smeared);
                let width = build.number(u64::from(width));
                build.op(BinaryOp::Sub, &width, ones)
            }
            BitCount::Parity => {
                let ones = build.ones(x);
                build.op_number(BinaryOp::BitAnd, &ones, 1)
            }
        };
        let mut items = build.items;
        let result = convert(result, &int());
        items.push(Stmt { kind: StmtKind::Expr(result), span });
        Expr { kind: ExprKind::Statements(items), ty: int(), span }
    }
}
