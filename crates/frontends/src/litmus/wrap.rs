//! Arithmetic modulo 2^32.
//!
//! In the program representation, a result outside of 32 bits is a fault. In litmus tests, sums,
//! differences, negations and shifts by a number wrap around, as in herd and on hardware. If no
//! result of a test can leave 32 bits, the program stays as it is. This is so if the ranges of the
//! values show it, or if no such operation is in a loop and the constants are small: each operation
//! then executes once and at most doubles the largest value. Otherwise every such operation is replaced
//! by an expression that wraps and never faults.
//!
//! DIVERGENCE: products and shifts by a register still fault. So do operations on very large
//! expressions.

use fencepost_ir::interval::{Range, interval};
use fencepost_ir::{BinOp, Expr, INT_LIMITS, Op, Program, Reg, UnOp, Update, Value, flow, range};

use super::layout::MIN_PLAIN;

/// The maximum number of nodes of the operands of a replaced operation, which repeats them.
const MAX_OPERANDS: usize = 300;

/// Replaces the arithmetic of a program by arithmetic that wraps around, if a result may leave 32
/// bits.
pub(super) fn wrap_arithmetic(program: &mut Program) {
    if has_small_values(program) {
        return;
    }
    let ranges = range::ranges_with_guesses(program);
    let mut leaves = false;
    for (thread, registers) in program.threads.iter_mut().zip(&ranges.registers) {
        for stmt in &mut thread.code {
            if let Op::Update { update: Update::Add { by, .. }, .. } = &stmt.op {
                leaves |= by.as_const() != Some(0);
            }
            for expr in values(&mut stmt.op) {
                for_each_node(expr, &mut |node| leaves |= may_leave(node, registers));
            }
        }
    }
    if leaves {
        for stmt in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
            if let Op::Update { update: Update::Add { wrap, .. }, .. } = &mut stmt.op {
                *wrap = Some(INT_LIMITS);
            }
            for expr in values(&mut stmt.op) {
                *expr = wrapped(expr);
            }
        }
    }
}

/// Returns the values that an operation computes. Addresses are not among them: an address outside
/// of all locations is an error in any case.
fn values(op: &mut Op) -> Vec<&mut Expr<Reg>> {
    match op {
        Op::Assign { expr, .. } | Op::Store { value: expr, .. } => vec![expr],
        Op::Branch { cond, .. } => vec![cond],
        Op::Assume(cond) | Op::Assert(cond) => vec![cond],
        Op::Update { update, .. } => match update {
            Update::Cas { expected, new } => vec![expected, new],
            Update::Swap { new } => vec![new],
            Update::Add { by, .. } | Update::Bits { by, .. } => vec![by],
        },
        _ => Vec::new(),
    }
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
    // The numbers below are addresses and codes of large constants, which tests only copy.
    let size = |value: Value| if value < MIN_PLAIN { 0 } else { value.unsigned_abs() };
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
            for expr in values(&mut stmt.op) {
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
    !grows_in_loop && doublings < 32 && largest << doublings <= INT_LIMITS.1 as u64
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
        BinOp::Wide(_) => 32,
    }
}

fn count_nodes(expr: &Expr<Reg>) -> usize {
    1 + children(expr).into_iter().map(count_nodes).sum::<usize>()
}

/// Returns whether the result of the outermost operator may leave 32 bits.
fn may_leave(expr: &Expr<Reg>, ranges: &[Range]) -> bool {
    let wide = |operand: &Expr<Reg>| interval(operand, ranges);
    let is_outside = |lo: Value, hi: Value| lo < INT_LIMITS.0 || hi > INT_LIMITS.1;
    match expr {
        Expr::Unary(UnOp::Neg, a) => {
            let (lo, hi) = wide(a);
            is_outside(-hi, -lo)
        }
        Expr::Binary(BinOp::Add, a, b) => {
            let ((a0, a1), (b0, b1)) = (wide(a), wide(b));
            is_outside(a0 + b0, a1 + b1)
        }
        Expr::Binary(BinOp::Sub, a, b) => {
            let ((a0, a1), (b0, b1)) = (wide(a), wide(b));
            is_outside(a0 - b1, a1 - b0)
        }
        Expr::Binary(BinOp::Shl, a, b) => {
            let ((a0, a1), (_, count)) = (wide(a), wide(b));
            let count = count.clamp(0, 31);
            is_outside(a0 << count, a1 << count)
        }
        _ => false,
    }
}

/// Returns an expression whose arithmetic wraps around.
fn wrapped(expr: &Expr<Reg>) -> Expr<Reg> {
    let with = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(b));
    match expr {
        Expr::Const(_) | Expr::Var(_) => expr.clone(),
        Expr::Unary(UnOp::Neg, a) => {
            let a = wrapped(a);
            if count_nodes(&a) > MAX_OPERANDS {
                return Expr::Unary(UnOp::Neg, Box::new(a));
            }
            let least = with(BinOp::Eq, a.clone(), Expr::Const(INT_LIMITS.0));
            let negative = Expr::Unary(UnOp::Neg, Box::new(a));
            Expr::Select(Box::new(least), Box::new(Expr::Const(INT_LIMITS.0)), Box::new(negative))
        }
        Expr::Unary(op, a) => Expr::Unary(*op, Box::new(wrapped(a))),
        Expr::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
            wrapped_sum(*op, &wrapped(a), &wrapped(b))
        }
        Expr::Binary(BinOp::Shl, a, b) => match b.as_const() {
            Some(count @ 1..=31) => {
                let a = wrapped(a);
                if count_nodes(&a) > MAX_OPERANDS {
                    return with(BinOp::Shl, a, Expr::Const(count));
                }
                let sign = 1 << (31 - count);
                let low = with(BinOp::BitAnd, a.clone(), Expr::Const(sign - 1));
                let low = with(BinOp::Shl, low, Expr::Const(count));
                let bit = with(BinOp::BitAnd, a, Expr::Const(sign));
                let negative = with(BinOp::BitOr, low.clone(), Expr::Const(INT_LIMITS.0));
                Expr::Select(Box::new(bit), Box::new(negative), Box::new(low))
            }
            _ => with(BinOp::Shl, wrapped(a), wrapped(b)),
        },
        Expr::Binary(op, a, b) => with(*op, wrapped(a), wrapped(b)),
        Expr::Select(c, a, b) => {
            Expr::Select(Box::new(wrapped(c)), Box::new(wrapped(a)), Box::new(wrapped(b)))
        }
    }
    .fold()
}

/// Returns `a + b` or `a - b` modulo 2^32. If the exact result is too large, it is the sum or
/// difference of `a - 2^31` and `b - 2^31` or `b + 2^31`, and similarly if it is too small.
fn wrapped_sum(op: BinOp, a: &Expr<Reg>, b: &Expr<Reg>) -> Expr<Reg> {
    let with = |op, a: &Expr<Reg>, b: &Expr<Reg>| {
        Expr::Binary(op, Box::new(a.clone()), Box::new(b.clone()))
    };
    let (zero, min, max) = (Expr::Const(0), Expr::Const(INT_LIMITS.0), Expr::Const(INT_LIMITS.1));
    let select = |c, a, b| Expr::Select(Box::new(c), Box::new(a), Box::new(b));
    if count_nodes(a) + count_nodes(b) > MAX_OPERANDS {
        return with(op, a, b);
    }
    // The sign of `b` for which the result can be too large, and its opposite.
    let (upwards, downwards, inverse) = match op {
        BinOp::Add => (BinOp::Gt, BinOp::Lt, BinOp::Sub),
        _ => (BinOp::Lt, BinOp::Gt, BinOp::Add),
    };
    let too_large = with(BinOp::Gt, a, &with(inverse, &max, b));
    let too_large = with(BinOp::And, &with(upwards, b, &zero), &too_large);
    let too_small = with(BinOp::Lt, a, &with(inverse, &min, b));
    let too_small = with(BinOp::And, &with(downwards, b, &zero), &too_small);
    let lowered = with(op, &with(BinOp::Add, a, &min), &with(op, b, &min));
    let raised = with(op, &with(BinOp::Sub, a, &min), &with(inverse, b, &min));
    select(too_large, lowered, select(too_small, raised, with(op, a, b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_expressions_have_the_results_of_hardware() {
        let (a, b) = (Box::new(Expr::Var(Reg(0))), Box::new(Expr::Var(Reg(1))));
        let edge =
            [INT_LIMITS.0, INT_LIMITS.0 + 1, -7, -1, 0, 1, 9, INT_LIMITS.1 - 1, INT_LIMITS.1];
        let low = |value: Value| Value::from(value as i32);
        for x in edge {
            for y in edge {
                let value = |expr: &Expr<Reg>| {
                    wrapped(expr).eval(&|reg: &Reg| if reg.index() == 0 { x } else { y })
                };
                let sum = Expr::Binary(BinOp::Add, a.clone(), b.clone());
                assert_eq!(value(&sum), Ok(low(x + y)), "{x} + {y}");
                let difference = Expr::Binary(BinOp::Sub, a.clone(), b.clone());
                assert_eq!(value(&difference), Ok(low(x - y)), "{x} - {y}");
                let negative = Expr::Unary(UnOp::Neg, a.clone());
                assert_eq!(value(&negative), Ok(low(-x)), "-{x}");
                let both = Expr::Binary(BinOp::Add, Box::new(sum), Box::new(difference));
                assert_eq!(value(&both), Ok(low(x + x)), "{x} + {y} + ({x} - {y})");
            }
            // Nested operations do not grow without bound.
            let deep = |inner: Expr<Reg>| Expr::Unary(UnOp::Neg, Box::new(inner));
            let deep = (0..100).fold(Expr::Var(Reg(0)), |inner, _| deep(inner));
            assert!(count_nodes(&wrapped(&deep)) < 10_000);
            for count in 0..32 {
                let shift = Expr::Binary(BinOp::Shl, a.clone(), Box::new(Expr::Const(count)));
                let value = wrapped(&shift).eval(&|_: &Reg| x);
                assert_eq!(value, Ok(low(x << count)), "{x} << {count}");
            }
        }
    }
}
