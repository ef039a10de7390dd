//! Programs with wrapping arithmetic of 32 or 64 bits, in terms of the types `i32` and `i64` of
//! `.fp`.
//!
//! Litmus tests whose results may leave 32 bits have such arithmetic. In `.fp`, the type of the
//! operands makes an operator wrap. So every number of the program gets one type, the smallest that
//! has the same results, and the operators that wrap become ordinary operators. An exact operator of
//! 32 bits remains if its result cannot leave 32 bits: then it neither faults nor wraps.
//!
//! Direction: exact. A program has no such form if it has other types than integers without a
//! range, or operators that neither type has (unsigned ones, exact ones of 64 bits).

use fencepost_ir::interval::{FULL, Range, binary, join};
use fencepost_ir::{
    BinOp, Expr, INT_LIMITS, Op, Problem, Property, Type, UnOp, Update, WideOp, flow, is_int,
};

/// The type of all numbers of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FixedWidth {
    I32,
    I64,
}

impl FixedWidth {
    /// Returns the name of the type.
    pub(super) fn name(self) -> &'static str {
        match self {
            FixedWidth::I32 => "i32",
            FixedWidth::I64 => "i64",
        }
    }

    fn range(self) -> Range {
        match self {
            FixedWidth::I32 => INT_LIMITS,
            FixedWidth::I64 => FULL,
        }
    }
}

/// Returns the program with ordinary operators, and the type that all its numbers must get.
pub(super) fn with_fixed_width(problem: &Problem) -> Option<(Problem, FixedWidth)> {
    let widths = [FixedWidth::I32, FixedWidth::I64];
    widths.into_iter().find_map(|width| Some((rewritten(problem, width)?, width)))
}

fn rewritten(problem: &Problem, width: FixedWidth) -> Option<Problem> {
    let mut problem = problem.clone();
    let program = &mut problem.program;
    let threads = || program.threads.iter().chain(&program.init);
    let registers = threads().flat_map(|thread| &thread.registers).map(|register| &register.ty);
    let locations = program.locations.iter().map(|location| &location.ty);
    let is_number = |ty: &Type| matches!(ty, Type::Int { range: None | Some(FULL) });
    let fits = |value: i64| (width.range().0..=width.range().1).contains(&value);
    if !registers.chain(locations).all(is_number)
        || !program.locations.iter().all(|location| fits(location.init))
    {
        return None;
    }
    program.locations.iter_mut().for_each(|location| location.ty = Type::INT);
    for thread in program.threads.iter_mut().chain(&mut program.init) {
        for stmt in &mut thread.code {
            // An index would have to be an `int`.
            let has_index = |op: &Op| op.address().is_some_and(|at| at.as_fixed().is_none());
            if has_index(&stmt.op) {
                return None;
            }
            if let Op::Update { update: Update::Add { wrap, .. }, .. } = &mut stmt.op {
                // The location wraps because of its type.
                wrap.take_if(|range| *range == width.range())?;
            }
            for expr in flow::values_mut(&mut stmt.op) {
                *expr = number(expr, width)?.expr;
            }
        }
    }
    for property in &mut problem.properties {
        match property {
            Property::Invariant(condition)
            | Property::FinalForall(condition)
            | Property::FinalNever(condition) => {
                condition.expr = number(&condition.expr, width)?.expr;
            }
            Property::Assertions
            | Property::MutualExclusion
            | Property::DeadlockFree
            | Property::Progress
            | Property::Operations(_) => {}
        }
    }
    for condition in &mut problem.sometimes {
        condition.expr = number(&condition.expr, width)?.expr;
    }
    Some(problem)
}

/// An expression with ordinary operators.
struct Number<V> {
    expr: Expr<V>,
    /// Contains all its values.
    range: Range,
    /// Whether it has the type of the program's numbers. A literal, a truth value and arithmetic on
    /// them have not: their arithmetic does not wrap.
    is_fixed: bool,
}

/// Rewrites an expression.
fn number<V: Clone + PartialEq>(expr: &Expr<V>, width: FixedWidth) -> Option<Number<V>> {
    let fixed = |expr, range| Some(Number { expr, range, is_fixed: true });
    match expr {
        Expr::Const(value) => {
            let (lo, hi) = width.range();
            let range = (*value, *value);
            (lo..=hi).contains(value).then(|| Number { expr: expr.clone(), range, is_fixed: false })
        }
        Expr::Var(_) => fixed(expr.clone(), width.range()),
        Expr::Unary(UnOp::Not, a) => {
            let expr = Expr::Unary(UnOp::Not, Box::new(number(a, width)?.expr));
            Some(Number { expr, range: (0, 1), is_fixed: false })
        }
        Expr::Unary(UnOp::BitNot, a) => {
            let a = number(a, width)?;
            let range = (!a.range.1, !a.range.0);
            Some(Number { expr: Expr::Unary(UnOp::BitNot, Box::new(a.expr)), range, ..a })
        }
        Expr::Unary(UnOp::Neg, a) => {
            let zero = Number { expr: Expr::Const(0), range: (0, 0), is_fixed: false };
            exact(BinOp::Sub, zero, number(a, width)?)
        }
        Expr::Binary(op, a, b) => match low_32_bits(expr) {
            Some((op, a, b)) if width == FixedWidth::I32 => {
                let (a, b) = (number(a, width)?, number(b, width)?);
                // A shift by 32 or more is a fault in `i32`.
                let is_short = |b: &Number<V>| 0 <= b.range.0 && b.range.1 < 32;
                if !(a.is_fixed || b.is_fixed && op != BinOp::Shl)
                    || op == BinOp::Shl && !is_short(&b)
                {
                    return None;
                }
                fixed(Expr::Binary(op, Box::new(a.expr), Box::new(b.expr)), INT_LIMITS)
            }
            Some(_) | None => operator(*op, number(a, width)?, number(b, width)?, width),
        },
        Expr::Select(c, a, b) => {
            let (c, a, b) = (number(c, width)?, number(a, width)?, number(b, width)?);
            let expr = Expr::Select(Box::new(c.expr), Box::new(a.expr), Box::new(b.expr));
            let is_fixed = a.is_fixed || b.is_fixed;
            Some(Number { expr, range: join(a.range, b.range), is_fixed })
        }
    }
}

/// Rewrites a binary operator.
fn operator<V>(op: BinOp, a: Number<V>, b: Number<V>, width: FixedWidth) -> Option<Number<V>> {
    let ordinary = match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem => return exact(op, a, b),
        BinOp::Shl | BinOp::Shr => return exact(op, a, b),
        BinOp::Eq
        | BinOp::Ne
        | BinOp::Lt
        | BinOp::Le
        | BinOp::Gt
        | BinOp::Ge
        | BinOp::And
        | BinOp::Or
        | BinOp::BitAnd
        | BinOp::BitOr
        | BinOp::BitXor => op,
        BinOp::Wide(op) => match op {
            _ if width == FixedWidth::I32 => return None,
            WideOp::WrapAdd => BinOp::Add,
            WideOp::WrapSub => BinOp::Sub,
            WideOp::WrapMul => BinOp::Mul,
            WideOp::WrapDiv => BinOp::Div,
            WideOp::WrapRem => BinOp::Rem,
            WideOp::WrapShl => BinOp::Shl,
            WideOp::Shr => BinOp::Shr,
            WideOp::Add
            | WideOp::Sub
            | WideOp::Mul
            | WideOp::Div
            | WideOp::Rem
            | WideOp::Shl
            | WideOp::UnsignedShr
            | WideOp::UnsignedDiv
            | WideOp::UnsignedRem
            | WideOp::UnsignedLt
            | WideOp::UnsignedLe => return None,
        },
    };
    let is_shift = matches!(ordinary, BinOp::Shl | BinOp::Shr);
    let range = binary(op, a.range, b.range);
    let is_fixed = a.is_fixed || b.is_fixed && !is_shift;
    // A comparison and a bitwise operator have the same result in every type, but a literal of more
    // than 32 bits needs an operand with a type.
    let is_large = |(lo, hi): Range| !is_int(lo) || !is_int(hi);
    if !is_fixed && (matches!(op, BinOp::Wide(_)) || is_large(a.range) || is_large(b.range)) {
        return None;
    }
    let is_truth = !matches!(op, BinOp::Wide(_) | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor);
    let expr = Expr::Binary(ordinary, Box::new(a.expr), Box::new(b.expr));
    Some(Number { expr, range, is_fixed: is_fixed && !is_truth })
}

/// Keeps an exact operator of 32 bits if it cannot fault, except by a division by zero.
fn exact<V>(op: BinOp, a: Number<V>, b: Number<V>) -> Option<Number<V>> {
    let wide = match op {
        BinOp::Add => WideOp::Add,
        BinOp::Sub => WideOp::Sub,
        BinOp::Mul => WideOp::Mul,
        BinOp::Div => WideOp::Div,
        // The remainder of a division by -1 is a fault if the quotient is.
        BinOp::Rem if b.range.0 >= 0 || b.range.1 < -1 => WideOp::Rem,
        BinOp::Shl if (0..32).contains(&b.range.0) && b.range.1 < 32 => WideOp::Shl,
        BinOp::Shr if (0..32).contains(&b.range.0) && b.range.1 < 32 => WideOp::Shr,
        _ => return None,
    };
    let range = binary(BinOp::Wide(wide), a.range, b.range);
    let is_shift = matches!(op, BinOp::Shl | BinOp::Shr);
    let is_fixed = a.is_fixed || b.is_fixed && !is_shift;
    // The clamped range of an exact sum that overflows ends at the limits of 64 bits.
    (is_int(range.0) && is_int(range.1)).then(|| {
        let expr = Expr::Binary(op, Box::new(a.expr), Box::new(b.expr));
        Number { expr, range, is_fixed }
    })
}

/// Returns the operator and the operands of a sum, difference, product or shift of 64 bits whose
/// result is cut to 32 bits: `((a op b) & 0xffffffff ^ 0x80000000) - 0x80000000`.
fn low_32_bits<V: Clone + PartialEq>(expr: &Expr<V>) -> Option<(BinOp, &Expr<V>, &Expr<V>)> {
    let sign = Expr::Const(1 << 31);
    let Expr::Binary(BinOp::Sub, flipped, by) = expr else { return None };
    let Expr::Binary(BinOp::BitXor, low, with) = &**flipped else { return None };
    let Expr::Binary(BinOp::BitAnd, result, mask) = &**low else { return None };
    let Expr::Binary(BinOp::Wide(op), a, b) = &**result else { return None };
    if **by != sign || **with != sign || **mask != Expr::Const(u32::MAX.into()) {
        return None;
    }
    let op = match op {
        WideOp::WrapAdd => BinOp::Add,
        WideOp::WrapSub => BinOp::Sub,
        WideOp::WrapMul => BinOp::Mul,
        WideOp::WrapShl => BinOp::Shl,
        _ => return None,
    };
    Some((op, a, b))
}
