//! Computes the conditions under which statements do not fault, for languages without runtime
//! checks.
//!
//! The ranges of registers and locations prove most conditions, which are then omitted. Direction:
//! exact, except that products and shifts that may exceed 32 bits are rejected.

use super::actions::{Action, Leaf, UpdateKind};
use super::expr::logical_not;
use super::substitute::substitute;
use crate::Unsupported;
use fencepost_ir::interval::{Range, interval, join};
use fencepost_ir::range::{Ranges, ranges};
use fencepost_ir::{BinOp, Expr, INT_LIMITS, Program, Reg, Thread, Type, UnOp, Value, is_int};
use std::cell::RefCell;

/// The value ranges of a program, from the view of one thread.
#[derive(Clone, Copy, Debug)]
pub struct RangeFacts<'a> {
    /// The program, without records.
    pub program: &'a Program,
    /// The ranges of all locations and registers.
    pub ranges: &'a Ranges,
    /// The ranges of the thread's registers.
    pub registers: &'a [Range],
}

/// Returns the ranges of the registers of `init`, computed as for a thread.
pub fn ranges_of_init(program: &Program) -> Vec<Range> {
    let mut program = program.clone();
    program.threads = program.init.take().into_iter().collect();
    ranges(&program).registers.pop().unwrap_or_default()
}

impl RangeFacts<'_> {
    /// Returns the range of a leaf.
    pub fn leaf_range(&self, leaf: &Leaf) -> Range {
        match leaf {
            Leaf::Reg(reg) => self.registers[reg.index()],
            Leaf::Loc(loc) => self.ranges.locations[loc.index()],
            Leaf::Element(base, len, _) => {
                let elements = &self.ranges.locations[base.index()..base.index() + *len as usize];
                elements.iter().copied().reduce(join).expect("an array has an element")
            }
        }
    }

    /// Returns the range of an expression.
    pub fn interval(&self, expr: &Expr<Leaf>) -> Range {
        let ranges = RefCell::new(Vec::new());
        let numbered = substitute(expr, &|leaf| {
            ranges.borrow_mut().push(self.leaf_range(leaf));
            Expr::Var(Reg::from_index(ranges.borrow().len() - 1))
        });
        interval(&numbered, &ranges.into_inner())
    }

    /// Returns the condition under which an expression does not fault.
    pub fn expr_precondition(&self, expr: &Expr<Leaf>) -> Result<Expr<Leaf>, Unsupported> {
        match expr {
            Expr::Const(_) | Expr::Var(Leaf::Reg(_) | Leaf::Loc(_)) => Ok(Expr::Const(1)),
            Expr::Var(Leaf::Element(_, len, index)) => {
                let inside = self.in_range_condition(index, (0, *len as Value - 1));
                Ok(conjunction(self.expr_precondition(index)?, inside))
            }
            Expr::Unary(op, a) => {
                let condition = match op {
                    UnOp::Neg => self.in_range_condition(a, (-INT_LIMITS.1, INT_LIMITS.1)),
                    UnOp::Not | UnOp::BitNot => Expr::Const(1),
                };
                Ok(conjunction(self.expr_precondition(a)?, condition))
            }
            Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
                let (first, second) = (self.expr_precondition(a)?, self.expr_precondition(b)?);
                if is_true(&second) {
                    return Ok(first);
                }
                let skipped = match op {
                    BinOp::And => logical_not((**a).clone()),
                    _ => (**a).clone(),
                };
                Ok(conjunction(first, disjunction(skipped, second)))
            }
            Expr::Binary(op, a, b) => {
                let operands = conjunction(self.expr_precondition(a)?, self.expr_precondition(b)?);
                Ok(conjunction(operands, self.operator_precondition(*op, a, b)?))
            }
            Expr::Select(c, a, b) => {
                let (first, second) = (self.expr_precondition(a)?, self.expr_precondition(b)?);
                let sides = match (is_true(&first), is_true(&second)) {
                    (true, true) => Expr::Const(1),
                    _ => Expr::Select(c.clone(), Box::new(first), Box::new(second)),
                };
                Ok(conjunction(self.expr_precondition(c)?, sides))
            }
        }
    }

    /// Returns the condition under which an operator has a result.
    fn operator_precondition(
        &self,
        op: BinOp,
        a: &Expr<Leaf>,
        b: &Expr<Leaf>,
    ) -> Result<Expr<Leaf>, Unsupported> {
        let (x, y) = (self.interval(a), self.interval(b));
        // Values have 32 bits, so nothing overflows here.
        let corners = |f: fn(Value, Value) -> Value| {
            let all = [(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)];
            all.into_iter().all(|(v, w)| is_int(f(v, w)))
        };
        let too_wide = || Err(Unsupported::Overflow(op));
        let binary =
            |op, a: Expr<Leaf>, b: Expr<Leaf>| Expr::Binary(op, Box::new(a), Box::new(b)).fold();
        Ok(match op {
            BinOp::Add if corners(|v, w| v + w) => Expr::Const(1),
            BinOp::Sub if corners(|v, w| v - w) => Expr::Const(1),
            BinOp::Mul if corners(|v, w| v * w) => Expr::Const(1),
            BinOp::Add | BinOp::Sub => {
                // Compares `a` with the limit minus `b` (plus `b` for a difference), on the side
                // that can overflow.
                let limit = |end: Value| {
                    let undo = if op == BinOp::Add { BinOp::Sub } else { BinOp::Add };
                    binary(undo, Expr::Const(end), b.clone())
                };
                let (up, down) = (
                    binary(BinOp::Le, a.clone(), limit(INT_LIMITS.1)),
                    binary(BinOp::Ge, a.clone(), limit(INT_LIMITS.0)),
                );
                let grows = match op {
                    BinOp::Add => binary(BinOp::Ge, b.clone(), Expr::Const(0)),
                    _ => binary(BinOp::Le, b.clone(), Expr::Const(0)),
                };
                Expr::Select(Box::new(grows), Box::new(up), Box::new(down)).fold()
            }
            BinOp::Mul => return too_wide(),
            BinOp::Div | BinOp::Rem => {
                let mut condition = Expr::Const(1);
                if y.0 <= 0 && 0 <= y.1 {
                    condition = binary(BinOp::Ne, b.clone(), Expr::Const(0));
                }
                if x.0 == INT_LIMITS.0 && y.0 <= -1 && -1 <= y.1 {
                    let least = binary(BinOp::Ne, a.clone(), Expr::Const(INT_LIMITS.0));
                    condition = conjunction(
                        condition,
                        disjunction(least, binary(BinOp::Ne, b.clone(), Expr::Const(-1))),
                    );
                }
                condition
            }
            BinOp::Shl => {
                let most = x.0.abs().max(x.1.abs());
                let short = (0..32).contains(&y.0) && (0..32).contains(&y.1);
                if !short || !is_int(most << y.1) {
                    return too_wide();
                }
                Expr::Const(1)
            }
            BinOp::Shr => self.in_range_condition(b, (0, 31)),
            BinOp::Wide(_) => unreachable!("`Unsupported::check` rejects these programs"),
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
            | BinOp::BitXor => Expr::Const(1),
        })
    }

    /// Returns the condition that an expression is in a range.
    pub fn in_range_condition(&self, expr: &Expr<Leaf>, (lo, hi): Range) -> Expr<Leaf> {
        let (least, most) = self.interval(expr);
        let compare =
            |op, a: Expr<Leaf>, b: Expr<Leaf>| Expr::Binary(op, Box::new(a), Box::new(b)).fold();
        let mut condition = Expr::Const(1);
        if least < lo {
            condition = compare(BinOp::Le, Expr::Const(lo), expr.clone());
        }
        if most > hi {
            condition = conjunction(condition, compare(BinOp::Le, expr.clone(), Expr::Const(hi)));
        }
        condition
    }

    /// Returns the condition under which an action of the thread does not fault.
    pub fn precondition(
        &self,
        action: &Action,
        thread: &Thread,
    ) -> Result<Expr<Leaf>, Unsupported> {
        let ty = |reg: Reg| &thread.registers[reg.index()].ty;
        let reaches = |at: &Leaf| self.expr_precondition(&Expr::Var(at.clone()));
        Ok(match action {
            Action::Nothing | Action::Fence => Expr::Const(1),
            Action::Assign { reg, value } => {
                conjunction(self.expr_precondition(value)?, self.fits_type(value, ty(*reg)))
            }
            Action::Choose { reg, lo, hi } => {
                let fits = |value| self.fits_type(&Expr::Const(value), ty(*reg));
                conjunction(fits(*lo), fits(*hi))
            }
            Action::Load { reg, from, value } => {
                conjunction(reaches(from)?, self.fits_type(value, ty(*reg)))
            }
            Action::Store { to, value } => conjunction(
                conjunction(reaches(to)?, self.expr_precondition(value)?),
                self.fits_location(value, to),
            ),
            Action::Update(update_action) => {
                let place = reaches(&update_action.at)?;
                let new = update_action.new_value();
                let mut operands = self.expr_precondition(&new)?;
                let mut condition = self.fits_location(&new, &update_action.at);
                if let (UpdateKind::Cas(expected, _), Some(writes)) =
                    (&update_action.kind, update_action.succeeds())
                {
                    operands = conjunction(self.expr_precondition(expected)?, operands);
                    // A value that a failed CAS does not write need not fit.
                    if !is_true(&condition) {
                        condition = disjunction(logical_not(writes), condition);
                    }
                }
                let fits = |reg| self.fits_type(&update_action.result(), ty(reg));
                let kept = update_action.reg.map_or(Expr::Const(1), fits);
                conjunction(conjunction(conjunction(place, operands), condition), kept)
            }
            Action::Drain(at) => reaches(at)?,
            Action::Branch { cond, .. } | Action::Assume(cond) | Action::Assert(cond) => {
                self.expr_precondition(cond)?
            }
        })
    }

    /// Returns the condition that a value fits a type.
    fn fits_type(&self, expr: &Expr<Leaf>, ty: &Type) -> Expr<Leaf> {
        self.program
            .limits(ty)
            .map_or(Expr::Const(1), |limits| self.in_range_condition(expr, limits))
    }

    /// Returns the condition that a value fits every location that a place may denote.
    fn fits_location(&self, expr: &Expr<Leaf>, at: &Leaf) -> Expr<Leaf> {
        let mut condition = Expr::Const(1);
        let mut known: Vec<Option<Range>> = Vec::new();
        for loc in at.locations() {
            let ty = &self.program.location(loc).ty;
            let limits = self.program.limits(ty);
            if !known.contains(&limits) {
                known.push(limits);
                condition = conjunction(condition, self.fits_type(expr, ty));
            }
        }
        condition
    }
}

/// Returns whether the expression is a constant that holds.
pub fn is_true(expr: &Expr<Leaf>) -> bool {
    expr.as_const().is_some_and(|value| value != 0)
}

/// Returns the conjunction, without operands that always hold.
pub fn conjunction(a: Expr<Leaf>, b: Expr<Leaf>) -> Expr<Leaf> {
    match (is_true(&a), is_true(&b)) {
        (true, _) => b,
        (_, true) => a,
        (false, false) => Expr::Binary(BinOp::And, Box::new(a), Box::new(b)).fold(),
    }
}

fn disjunction(a: Expr<Leaf>, b: Expr<Leaf>) -> Expr<Leaf> {
    Expr::Binary(BinOp::Or, Box::new(a), Box::new(b)).fold()
}
