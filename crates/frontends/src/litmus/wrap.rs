//! Arithmetic modulo 2^32 and 2^64.
//!
//! In litmus tests arithmetic wraps around, as in herd and on hardware. Lowering uses the exact
//! operators of 32 bits for arithmetic of 32 bits and the wrapping operators of 64 bits
//! ([`in_64_bits`]) for arithmetic of 64 bits. If no result of a test can leave 32 bits, all of them
//! become exact operators, so that the test remains an ordinary program, which can be translated.
//! This is so if the ranges of the values show it, or if no such operation is in a loop and the
//! constants are small: each operation then executes once and at most doubles the largest value.
//! Otherwise every operation of 32 bits is replaced by one of 64 bits whose result is cut.
//!
//! DIVERGENCE: a quotient outside of 32 bits is a fault. In C, so is a shift by a negative amount or
//! by 64 or more.

use fencepost_ir::interval::{FULL, Range, binary, interval};
use fencepost_ir::{
    BinOp, Expr, INT_LIMITS, Op, Program, Reg, Type, UnOp, Update, Value, WideOp, flow, is_int,
    range,
};

use super::layout::is_address;

/// Returns the operator on values of 64 bits.
pub(super) fn in_64_bits(op: BinOp) -> BinOp {
    BinOp::Wide(match op {
        BinOp::Add => WideOp::WrapAdd,
        BinOp::Sub => WideOp::WrapSub,
        BinOp::Mul => WideOp::WrapMul,
        BinOp::Div => WideOp::WrapDiv,
        BinOp::Rem => WideOp::WrapRem,
        BinOp::Shl => WideOp::WrapShl,
        BinOp::Shr => WideOp::Shr,
        BinOp::Wide(op) => op,
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
        | BinOp::BitXor => return op,
    })
}

/// Returns the operator of an instruction of `width` bits.
pub(super) fn of_width(op: BinOp, width: u8) -> BinOp {
    if width == 64 { in_64_bits(op) } else { op }
}

/// Returns the range of an addition in one step on a location of `width` bits.
pub(super) fn wrap_of_width(width: u8) -> Option<Range> {
    if width == 64 { WRAP_64 } else { None }
}

/// Returns `-a` on values of 64 bits.
pub(super) fn negated_in_64_bits(a: Expr<Reg>) -> Expr<Reg> {
    wide(WideOp::WrapSub, Expr::Const(0), a)
}

/// The range of an addition in one step on a location of 64 bits.
pub(super) const WRAP_64: Option<Range> = Some(FULL);

fn wide(op: WideOp, a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    Expr::Binary(BinOp::Wide(op), Box::new(a), Box::new(b))
}

/// Makes the arithmetic of 32 bits wrap around, if a result may leave 32 bits.
pub(super) fn wrap_arithmetic(program: &mut Program) {
    if has_small_values(program) || !(has_large_constants(program) || may_leave(program)) {
        return replace_values(program, &mut narrowed, None);
    }
    replace_values(program, &mut wrapped, Some(INT_LIMITS));
    let is_wide = |stmt: &fencepost_ir::Stmt| {
        let mut found = false;
        flow::for_each_expr(&stmt.op, &mut |expr| found |= expr.is_wide());
        found || matches!(stmt.op, Op::Update { update: Update::Add { wrap: WRAP_64, .. }, .. })
    };
    // The analysis of ranges finds out which locations need how many bits.
    if program.threads.iter().flat_map(|thread| &thread.code).any(is_wide)
        || program.locations.iter().any(|location| !is_int(location.init))
    {
        for location in &mut program.locations {
            location.ty = Type::Int { range: Some(FULL) };
        }
    }
}

/// Replaces the values that a program computes, and the ranges of its additions of 32 bits in one
/// step. Without a range, the additions of 64 bits become exact, too.
fn replace_values(
    program: &mut Program,
    replace: &mut impl FnMut(Expr<Reg>) -> Expr<Reg>,
    range: Option<Range>,
) {
    for stmt in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        if let Op::Update { update: Update::Add { wrap, .. }, .. } = &mut stmt.op
            && (wrap.is_none() || range.is_none())
        {
            *wrap = range;
        }
        for expr in flow::values_mut(&mut stmt.op) {
            let old = std::mem::replace(expr, Expr::Const(0));
            *expr = replace(old).fold();
        }
    }
}

/// Returns whether a constant or an initial value has more than 32 bits.
fn has_large_constants(program: &mut Program) -> bool {
    let mut large = program.locations.iter().any(|location| !is_int(location.init));
    for stmt in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        for expr in flow::values_mut(&mut stmt.op) {
            for_each_node(expr, &mut |node| {
                large |= matches!(node, Expr::Const(value) if !is_int(*value));
            });
        }
    }
    large
}

/// Returns whether a result may leave 32 bits, by the ranges of the values.
fn may_leave(program: &mut Program) -> bool {
    let ranges = range::ranges_with_guesses(program);
    let mut leaves = false;
    for (thread, registers) in program.threads.iter_mut().zip(&ranges.registers) {
        for stmt in &mut thread.code {
            if let Op::Update { update: Update::Add { by, .. }, .. } = &stmt.op {
                leaves |= by.as_const() != Some(0);
            }
            for expr in flow::values_mut(&mut stmt.op) {
                for_each_node(expr, &mut |node| leaves |= result_may_leave(node, registers));
            }
        }
    }
    leaves
}

fn children(expr: &Expr<Reg>) -> Vec<&Expr<Reg>> {
    match expr {
        Expr::Const(_) | Expr::Var(_) => Vec::new(),
        Expr::Unary(_, a) => vec![a],
        Expr::Binary(_, a, b) => vec![a, b],
        Expr::Select(c, a, b) => vec![c, a, b],
    }
}

fn for_each_node(expr: &Expr<Reg>, visit: &mut impl FnMut(&Expr<Reg>)) {
    visit(expr);
    children(expr).into_iter().for_each(|part| for_each_node(part, visit));
}

/// Returns whether no operation that makes values larger is in a loop, and the constants are so
/// small that no result leaves 32 bits.
fn has_small_values(program: &mut Program) -> bool {
    // Tests only copy addresses and add small offsets to them.
    let size = |value: Value| if is_address(value) { 0 } else { value.unsigned_abs() };
    let inits = program.locations.iter().map(|location| size(location.init));
    let mut largest = inits.max().unwrap_or(0).max(1);
    let mut doublings: u32 = 0;
    let mut grows_in_loop = false;
    for thread in &mut program.threads {
        // Every statement of a cycle is between the ends of a backward jump.
        let mut in_loop = vec![false; thread.code.len()];
        for (at, stmt) in thread.code.iter().enumerate() {
            for next in flow::successors(stmt).filter(|next| next.index() <= at) {
                in_loop[next.index()..=at].fill(true);
            }
        }
        for (at, stmt) in thread.code.iter_mut().enumerate() {
            let before = doublings;
            if matches!(
                stmt.op,
                Op::Update { update: Update::Add { .. } | Update::Bits { .. }, .. }
            ) {
                doublings += 1;
            }
            for expr in flow::values_mut(&mut stmt.op) {
                for_each_node(expr, &mut |node| match node {
                    Expr::Const(value) => largest = largest.max(size(*value)),
                    Expr::Var(_) | Expr::Select(..) | Expr::Unary(UnOp::Not, _) => {}
                    Expr::Unary(UnOp::Neg | UnOp::BitNot, _) => doublings += 1,
                    Expr::Binary(op, _, count) => {
                        doublings = doublings.saturating_add(growth(*op, count));
                    }
                });
            }
            grows_in_loop |= in_loop[at] && doublings > before;
        }
    }
    !grows_in_loop && doublings < 32 && largest <= INT_LIMITS.1 as u64 >> doublings
}

/// Returns how many times an operator at most doubles the larger operand.
fn growth(op: BinOp, right: &Expr<Reg>) -> u32 {
    match op {
        BinOp::Add | BinOp::Sub | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => 1,
        BinOp::Mul | BinOp::Shl => match right.as_const() {
            Some(right @ 0..=31) => right as u32,
            Some(_) | None => 32,
        },
        BinOp::Div | BinOp::Rem | BinOp::Shr => 0,
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => 0,
        BinOp::And | BinOp::Or => 0,
        // The operator of 32 bits has fewer amounts.
        BinOp::Wide(WideOp::Shr) => match right.as_const() {
            Some(0..=31) => 0,
            Some(_) | None => 32,
        },
        BinOp::Wide(op) => in_32_bits(op).map_or(32, |op| growth(op, right)),
    }
}

/// Returns the operator that computes the same if no result leaves 32 bits.
fn in_32_bits(op: WideOp) -> Option<BinOp> {
    match op {
        WideOp::Add | WideOp::WrapAdd => Some(BinOp::Add),
        WideOp::Sub | WideOp::WrapSub => Some(BinOp::Sub),
        WideOp::Mul | WideOp::WrapMul => Some(BinOp::Mul),
        WideOp::Div | WideOp::WrapDiv => Some(BinOp::Div),
        WideOp::Rem | WideOp::WrapRem => Some(BinOp::Rem),
        WideOp::Shl | WideOp::WrapShl => Some(BinOp::Shl),
        WideOp::Shr => Some(BinOp::Shr),
        WideOp::UnsignedShr
        | WideOp::UnsignedDiv
        | WideOp::UnsignedRem
        | WideOp::UnsignedLt
        | WideOp::UnsignedLe => None,
    }
}

/// Returns whether the result of the outermost operator may leave 32 bits.
fn result_may_leave(expr: &Expr<Reg>, ranges: &[Range]) -> bool {
    let is_outside = |(lo, hi): Range| lo < INT_LIMITS.0 || hi > INT_LIMITS.1;
    let exact = |op, a: Range, b: Range| binary(BinOp::Wide(op), a, b);
    match expr {
        Expr::Unary(UnOp::Neg, a) => is_outside(exact(WideOp::Sub, (0, 0), interval(a, ranges))),
        Expr::Binary(op, a, b) => {
            let op = match op {
                BinOp::Add | BinOp::Wide(WideOp::WrapAdd) => WideOp::Add,
                BinOp::Sub | BinOp::Wide(WideOp::WrapSub) => WideOp::Sub,
                BinOp::Mul | BinOp::Wide(WideOp::WrapMul) => WideOp::Mul,
                BinOp::Shl | BinOp::Wide(WideOp::WrapShl) => WideOp::Shl,
                BinOp::Wide(op) => *op,
                _ => return false,
            };
            let (a, b) = (interval(a, ranges), interval(b, ranges));
            let shifts = matches!(op, WideOp::Shl | WideOp::Shr);
            // The operator of 32 bits has fewer amounts.
            (shifts && (b.0 < 0 || b.1 > 31)) || is_outside(exact(op, a, b))
        }
        Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Select(..) => false,
    }
}

/// Rebuilds an expression: `unary` and `binary` get the operators with their rebuilt operands.
fn rebuilt(
    expr: Expr<Reg>,
    unary: &impl Fn(UnOp, Expr<Reg>) -> Expr<Reg>,
    binary: &impl Fn(BinOp, Expr<Reg>, Expr<Reg>) -> Expr<Reg>,
) -> Expr<Reg> {
    let inner = |part: Box<Expr<Reg>>| rebuilt(*part, unary, binary);
    match expr {
        Expr::Const(_) | Expr::Var(_) => expr,
        Expr::Unary(op, a) => unary(op, inner(a)),
        Expr::Binary(op, a, b) => binary(op, inner(a), inner(b)),
        Expr::Select(c, a, b) => {
            Expr::Select(Box::new(inner(c)), Box::new(inner(a)), Box::new(inner(b)))
        }
    }
}

/// Returns an expression with operators of 32 bits only. No result leaves 32 bits.
fn narrowed(expr: Expr<Reg>) -> Expr<Reg> {
    rebuilt(expr, &|op, a| Expr::Unary(op, Box::new(a)), &|op, a, b| {
        let op = match op {
            BinOp::Wide(wide) => in_32_bits(wide).unwrap_or(op),
            _ => op,
        };
        Expr::Binary(op, Box::new(a), Box::new(b))
    })
}

/// Returns an expression whose arithmetic of 32 bits wraps around.
fn wrapped(expr: Expr<Reg>) -> Expr<Reg> {
    let unary = |op, a| match op {
        UnOp::Neg => low_32_bits(negated_in_64_bits(a)),
        UnOp::Not | UnOp::BitNot => Expr::Unary(op, Box::new(a)),
    };
    rebuilt(expr, &unary, &|op, a, b| match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl => {
            low_32_bits(Expr::Binary(in_64_bits(op), Box::new(a), Box::new(b)))
        }
        _ => Expr::Binary(op, Box::new(a), Box::new(b)),
    })
}

/// Returns the low 32 bits of a value as a signed number.
pub(super) fn low_32_bits(value: Expr<Reg>) -> Expr<Reg> {
    let with = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(Expr::Const(b)));
    let sign = 1 << 31;
    let low = with(BinOp::BitAnd, value, u32::MAX.into());
    with(BinOp::Sub, with(BinOp::BitXor, low, sign), sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_expressions_have_the_results_of_hardware() {
        let (a, b) = (Box::new(Expr::Var(Reg(0))), Box::new(Expr::Var(Reg(1))));
        let edge =
            [INT_LIMITS.0, INT_LIMITS.0 + 1, -7, -1, 0, 1, 9, INT_LIMITS.1 - 1, INT_LIMITS.1];
        for x in edge {
            for y in edge {
                let value = |expr: Expr<Reg>| {
                    wrapped(expr).eval(&|reg: &Reg| if reg.index() == 0 { x } else { y })
                };
                let (p, q) = (x as i32, y as i32);
                for (op, expected) in [
                    (BinOp::Add, p.wrapping_add(q)),
                    (BinOp::Sub, p.wrapping_sub(q)),
                    (BinOp::Mul, p.wrapping_mul(q)),
                ] {
                    let expr = Expr::Binary(op, a.clone(), b.clone());
                    assert_eq!(value(expr.clone()), Ok(expected.into()), "{x} {op:?} {y}");
                    let nested = Expr::Binary(op, Box::new(expr), a.clone());
                    let twice = match op {
                        BinOp::Add => expected.wrapping_add(p),
                        BinOp::Sub => expected.wrapping_sub(p),
                        _ => expected.wrapping_mul(p),
                    };
                    assert_eq!(value(nested), Ok(twice.into()), "{x} {op:?} {y} {op:?} {x}");
                }
                let negative = Expr::Unary(UnOp::Neg, a.clone());
                assert_eq!(value(negative), Ok(p.wrapping_neg().into()), "-{x}");
            }
            for count in 0..32 {
                let shift = Expr::Binary(BinOp::Shl, a.clone(), Box::new(Expr::Const(count)));
                let expected = (x as i32).wrapping_shl(count as u32);
                let value = wrapped(shift).eval(&|_: &Reg| x);
                assert_eq!(value, Ok(expected.into()), "{x} << {count}");
            }
        }
    }

    #[test]
    fn narrowed_expressions_have_no_wide_operators() {
        let ops = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div, BinOp::Rem, BinOp::Shl];
        for op in ops.into_iter().chain([BinOp::Shr]) {
            let operands = || (Box::new(Expr::Var(Reg(0))), Box::new(Expr::Const(3)));
            let (a, b) = operands();
            let narrow = narrowed(Expr::Binary(in_64_bits(op), a, b));
            let (a, b) = operands();
            assert_eq!(narrow, Expr::Binary(op, a, b));
        }
    }
}
