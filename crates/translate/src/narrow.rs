//! Replaces 64-bit arithmetic by 32-bit arithmetic where range analysis proves that the values are
//! the same.
//!
//! The front end for C computes with 64 bits: addresses, results of threads, sums that may overflow.
//! Translations and exports know only `int`. Most small programs use only small numbers, and for
//! them this pass removes all wide types and operators. Direction: exact. What cannot be proved
//! stays wide, and [`Unsupported`](crate::Unsupported) reports it.

use fencepost_ir::interval::{Range, interval};
use fencepost_ir::range::ranges;
use fencepost_ir::{
    Address, BinOp, Expr, Op, Problem, Program, Reg, Type, Update, Value, WideOp, is_int,
};

/// Returns the problem with as few wide types and operators as can be proved.
pub fn narrowed(problem: &Problem) -> Problem {
    let mut problem = problem.clone();
    let program = &mut problem.program;
    if program.init.is_none() && !program.uses_pointers() && program.uses_wide_integers() {
        narrow(program);
    }
    problem
}

fn narrow(program: &mut Program) {
    let known = ranges(program);
    let wide = |limits: Option<Range>| limits.is_some_and(|(lo, hi)| !is_int(lo) || !is_int(hi));
    for at in 0..program.locations.len() {
        let range = known.locations[at];
        if wide(program.limits(&program.locations[at].ty)) && fits(range) {
            program.locations[at].ty = Type::Int { range: Some(range) };
        }
    }
    for (thread, ranges) in known.registers.iter().enumerate() {
        for (at, range) in ranges.iter().enumerate() {
            if wide(program.limits(&program.threads[thread].registers[at].ty)) && fits(*range) {
                program.threads[thread].registers[at].ty = Type::Int { range: Some(*range) };
            }
        }
        for stmt in &mut program.threads[thread].code {
            narrow_op(&mut stmt.op, ranges);
        }
    }
}

fn fits((lo, hi): Range) -> bool {
    is_int(lo) && is_int(hi)
}

fn narrow_op(op: &mut Op, ranges: &[Range]) {
    let narrow_address = |at: &mut Address| {
        let cell = at.cell.as_mut().map(|(_, cell)| cell);
        let index = at.index.as_mut().map(|(_, index)| index);
        cell.into_iter().chain(index).for_each(|expr| narrow_expr(expr, ranges));
    };
    match op {
        Op::Assign { expr, .. } => narrow_expr(expr, ranges),
        Op::Load { from: at, .. } | Op::Drain(at) => narrow_address(at),
        Op::Store { to, value } => {
            narrow_address(to);
            narrow_expr(value, ranges);
        }
        Op::Update { at, update, .. } => {
            narrow_address(at);
            match update {
                Update::Cas { expected, new, .. } => {
                    narrow_expr(expected, ranges);
                    narrow_expr(new, ranges);
                }
                Update::Swap { new: value }
                | Update::Add { by: value, .. }
                | Update::Bits { by: value, .. } => narrow_expr(value, ranges),
            }
        }
        Op::Branch { cond, .. } | Op::Assume(cond) | Op::Assert(cond) => narrow_expr(cond, ranges),
        Op::Free { cell, .. } => narrow_expr(cell, ranges),
        // The front end for C writes none of the others with expressions.
        Op::Skip
        | Op::Choose { .. }
        | Op::Fence(_)
        | Op::New { .. }
        | Op::Leave
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Return { .. }
        | Op::Join
        | Op::SectionBegin { .. }
        | Op::SectionEnd { .. }
        | Op::GracePeriod { .. }
        | Op::Halt => {}
    }
}

fn narrow_expr(expr: &mut Expr<Reg>, ranges: &[Range]) {
    match expr {
        Expr::Const(_) | Expr::Var(_) => {}
        Expr::Unary(_, a) => narrow_expr(a, ranges),
        Expr::Select(c, a, b) => {
            narrow_expr(c, ranges);
            narrow_expr(a, ranges);
            narrow_expr(b, ranges);
        }
        Expr::Binary(op, a, b) => {
            let (left, right) = (interval(a, ranges), interval(b, ranges));
            if let BinOp::Wide(wide) = *op {
                let whole = interval(&Expr::Binary(*op, a.clone(), b.clone()), ranges);
                if let Some(narrow) = narrow_operator(wide, left, right).filter(|_| fits(whole)) {
                    *op = narrow;
                }
            }
            narrow_expr(a, ranges);
            narrow_expr(b, ranges);
        }
    }
}

/// Returns the operator of `int` with the same results and faults, if the operands and the result
/// are of this size.
fn narrow_operator(op: WideOp, left: Range, right: Range) -> Option<BinOp> {
    if !fits(left) || !fits(right) {
        return None;
    }
    let unsigned = left.0 >= 0 && right.0 >= 0;
    let is_amount = (0..=31).contains(&right.0) && (0..=31).contains(&right.1);
    // The exact result must fit: a result that wraps fits, too.
    let exact = |apply: fn(i128, i128) -> i128| {
        let ends = |range: Range| [i128::from(range.0), i128::from(range.1)];
        let mut corners = ends(left).into_iter().flat_map(|a| ends(right).map(|b| apply(a, b)));
        corners.all(|value| Value::try_from(value).is_ok_and(is_int))
    };
    match op {
        WideOp::Add | WideOp::WrapAdd => exact(|a, b| a + b).then_some(BinOp::Add),
        WideOp::Sub | WideOp::WrapSub => exact(|a, b| a - b).then_some(BinOp::Sub),
        WideOp::Mul | WideOp::WrapMul => exact(|a, b| a * b).then_some(BinOp::Mul),
        WideOp::Div | WideOp::WrapDiv => Some(BinOp::Div),
        WideOp::Rem | WideOp::WrapRem => Some(BinOp::Rem),
        WideOp::Shl | WideOp::WrapShl if is_amount && left.0 >= 0 => {
            exact(|a, b| a << b).then_some(BinOp::Shl)
        }
        WideOp::Shr if is_amount => Some(BinOp::Shr),
        WideOp::UnsignedShr if is_amount && unsigned => Some(BinOp::Shr),
        WideOp::UnsignedDiv if unsigned => Some(BinOp::Div),
        WideOp::UnsignedRem if unsigned => Some(BinOp::Rem),
        WideOp::UnsignedLt if unsigned => Some(BinOp::Lt),
        WideOp::UnsignedLe if unsigned => Some(BinOp::Le),
        WideOp::Shl
        | WideOp::Shr
        | WideOp::WrapShl
        | WideOp::UnsignedShr
        | WideOp::UnsignedDiv
        | WideOp::UnsignedRem
        | WideOp::UnsignedLt
        | WideOp::UnsignedLe => None,
    }
}
