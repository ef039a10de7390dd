//! What must hold so that a statement does not fault, for languages that do not look.
//!
//! Which checks are needed is decided with the ranges of registers and locations: most are not. Direction: exact
//! but for products and shifts that may leave 32 bits, which are refused.

use super::expr::negation;
use super::steps::{Action, Kind, Leaf};
use super::substitute::substitute;
use crate::Unsupported;
use fencepost_ir::interval::{Range, interval, join};
use fencepost_ir::range::{Ranges, ranges};
use fencepost_ir::{BinOp, Expr, Program, Reg, Thread, Type, UnOp, Value};
use std::cell::RefCell;

/// What is known of the values in a program, seen from one thread.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The program, without records.
    pub program: &'a Program,
    /// Of its locations and registers.
    pub ranges: &'a Ranges,
    /// The thread's registers.
    pub registers: &'a [Range],
}

/// The ranges of the registers of `init`: as if it were a thread.
pub fn ranges_of_init(program: &Program) -> Vec<Range> {
    let mut program = program.clone();
    program.threads = program.init.take().into_iter().collect();
    ranges(&program).registers.pop().unwrap_or_default()
}

impl Facts<'_> {
    /// What a leaf can be.
    pub fn leaf(&self, leaf: &Leaf) -> Range {
        match leaf {
            Leaf::Reg(reg) => self.registers[reg.index()],
            Leaf::Loc(loc) => self.ranges.locations[loc.index()],
            Leaf::Element(base, len, _) => {
                let elements = &self.ranges.locations[base.index()..base.index() + *len as usize];
                elements.iter().copied().reduce(join).expect("an array has an element")
            }
        }
    }

    /// What an expression can be.
    pub fn interval(&self, expr: &Expr<Leaf>) -> Range {
        let ranges = RefCell::new(Vec::new());
        let numbered = substitute(expr, &|leaf| {
            ranges.borrow_mut().push(self.leaf(leaf));
            Expr::Var(Reg::from_index(ranges.borrow().len() - 1))
        });
        interval(&numbered, &ranges.into_inner())
    }

    /// What must hold so that an expression does not fault.
    pub fn evaluates(&self, expr: &Expr<Leaf>) -> Result<Expr<Leaf>, Unsupported> {
        match expr {
            Expr::Const(_) | Expr::Var(Leaf::Reg(_) | Leaf::Loc(_)) => Ok(Expr::Const(1)),
            Expr::Var(Leaf::Element(_, len, index)) => {
                let inside = self.within(index, (0, *len as Value - 1));
                Ok(both(self.evaluates(index)?, inside))
            }
            Expr::Unary(op, a) => {
                let fine = match op {
                    UnOp::Neg => self.within(a, (-Value::MAX, Value::MAX)),
                    UnOp::Not | UnOp::BitNot => Expr::Const(1),
                };
                Ok(both(self.evaluates(a)?, fine))
            }
            Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
                let (first, second) = (self.evaluates(a)?, self.evaluates(b)?);
                if is_true(&second) {
                    return Ok(first);
                }
                let skipped = match op {
                    BinOp::And => negation((**a).clone()),
                    _ => (**a).clone(),
                };
                Ok(both(first, either(skipped, second)))
            }
            Expr::Binary(op, a, b) => {
                let operands = both(self.evaluates(a)?, self.evaluates(b)?);
                Ok(both(operands, self.applies(*op, a, b)?))
            }
            Expr::Select(c, a, b) => {
                let (first, second) = (self.evaluates(a)?, self.evaluates(b)?);
                let sides = match (is_true(&first), is_true(&second)) {
                    (true, true) => Expr::Const(1),
                    _ => Expr::Select(c.clone(), Box::new(first), Box::new(second)),
                };
                Ok(both(self.evaluates(c)?, sides))
            }
        }
    }

    /// What must hold so that an operator has a result.
    fn applies(
        &self,
        op: BinOp,
        a: &Expr<Leaf>,
        b: &Expr<Leaf>,
    ) -> Result<Expr<Leaf>, Unsupported> {
        let (x, y) = (self.interval(a), self.interval(b));
        let wide = |v: Value| i64::from(v);
        let corners = |f: fn(i64, i64) -> i64| {
            let all = [(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)];
            all.into_iter().all(|(v, w)| Value::try_from(f(wide(v), wide(w))).is_ok())
        };
        let too_wide = || Err(Unsupported::Overflow(op));
        let binary =
            |op, a: Expr<Leaf>, b: Expr<Leaf>| Expr::Binary(op, Box::new(a), Box::new(b)).fold();
        Ok(match op {
            BinOp::Add if corners(|v, w| v + w) => Expr::Const(1),
            BinOp::Sub if corners(|v, w| v - w) => Expr::Const(1),
            BinOp::Mul if corners(|v, w| v * w) => Expr::Const(1),
            BinOp::Add | BinOp::Sub => {
                // Below the limit by as much as is added, on the side on which it is added.
                let limit = |end: Value| {
                    let undo = if op == BinOp::Add { BinOp::Sub } else { BinOp::Add };
                    binary(undo, Expr::Const(end), b.clone())
                };
                let (up, down) = (
                    binary(BinOp::Le, a.clone(), limit(Value::MAX)),
                    binary(BinOp::Ge, a.clone(), limit(Value::MIN)),
                );
                let grows = match op {
                    BinOp::Add => binary(BinOp::Ge, b.clone(), Expr::Const(0)),
                    _ => binary(BinOp::Le, b.clone(), Expr::Const(0)),
                };
                Expr::Select(Box::new(grows), Box::new(up), Box::new(down)).fold()
            }
            BinOp::Mul => return too_wide(),
            BinOp::Div | BinOp::Rem => {
                let mut fine = Expr::Const(1);
                if y.0 <= 0 && 0 <= y.1 {
                    fine = binary(BinOp::Ne, b.clone(), Expr::Const(0));
                }
                if x.0 == Value::MIN && y.0 <= -1 && -1 <= y.1 {
                    let least = binary(BinOp::Ne, a.clone(), Expr::Const(Value::MIN));
                    fine = both(fine, either(least, binary(BinOp::Ne, b.clone(), Expr::Const(-1))));
                }
                fine
            }
            BinOp::Shl => {
                let most = wide(x.0).abs().max(wide(x.1).abs());
                let short = (0..32).contains(&y.0) && (0..32).contains(&y.1);
                if !short || Value::try_from(most << y.1).is_err() {
                    return too_wide();
                }
                Expr::Const(1)
            }
            BinOp::Shr => self.within(b, (0, 31)),
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

    /// That an expression is in a range.
    pub fn within(&self, expr: &Expr<Leaf>, (lo, hi): Range) -> Expr<Leaf> {
        let (least, most) = self.interval(expr);
        let compare =
            |op, a: Expr<Leaf>, b: Expr<Leaf>| Expr::Binary(op, Box::new(a), Box::new(b)).fold();
        let mut fine = Expr::Const(1);
        if least < lo {
            fine = compare(BinOp::Le, Expr::Const(lo), expr.clone());
        }
        if most > hi {
            fine = both(fine, compare(BinOp::Le, expr.clone(), Expr::Const(hi)));
        }
        fine
    }

    /// What must hold so that an action of the thread does not fault.
    pub fn right(&self, action: &Action, thread: &Thread) -> Result<Expr<Leaf>, Unsupported> {
        let ty = |reg: Reg| &thread.registers[reg.index()].ty;
        let reaches = |at: &Leaf| self.evaluates(&Expr::Var(at.clone()));
        Ok(match action {
            Action::Nothing | Action::Fence => Expr::Const(1),
            Action::Assign { reg, value } => {
                both(self.evaluates(value)?, self.fits(value, ty(*reg)))
            }
            Action::Choose { reg, lo, hi } => {
                let fits = |value| self.fits(&Expr::Const(value), ty(*reg));
                both(fits(*lo), fits(*hi))
            }
            Action::Load { reg, from, value } => both(reaches(from)?, self.fits(value, ty(*reg))),
            Action::Store { to, value } => {
                both(both(reaches(to)?, self.evaluates(value)?), self.fits_at(value, to))
            }
            Action::Update(change) => {
                let place = reaches(&change.at)?;
                let new = change.written();
                let mut operands = self.evaluates(&new)?;
                let mut fine = self.fits_at(&new, &change.at);
                if let (Kind::Cas(expected), Some(writes)) = (&change.kind, change.succeeds()) {
                    operands = both(self.evaluates(expected)?, operands);
                    // What is not written need not fit.
                    if !is_true(&fine) {
                        fine = either(negation(writes), fine);
                    }
                }
                let fits = |reg| self.fits(&change.yields(), ty(reg));
                let kept = change.reg.map_or(Expr::Const(1), fits);
                both(both(both(place, operands), fine), kept)
            }
            Action::Drain(at) => reaches(at)?,
            Action::Branch { cond, .. } | Action::Assume(cond) | Action::Assert(cond) => {
                self.evaluates(cond)?
            }
        })
    }

    /// That a value may be put where this type is.
    fn fits(&self, expr: &Expr<Leaf>, ty: &Type) -> Expr<Leaf> {
        self.program.limits(ty).map_or(Expr::Const(1), |limits| self.within(expr, limits))
    }

    /// That a value may be put into any of the locations that a place may be.
    fn fits_at(&self, expr: &Expr<Leaf>, at: &Leaf) -> Expr<Leaf> {
        let mut fine = Expr::Const(1);
        let mut known: Vec<Option<Range>> = Vec::new();
        for loc in at.locations() {
            let ty = &self.program.location(loc).ty;
            let limits = self.program.limits(ty);
            if !known.contains(&limits) {
                known.push(limits);
                fine = both(fine, self.fits(expr, ty));
            }
        }
        fine
    }
}

/// The expression is one that always holds.
pub fn is_true(expr: &Expr<Leaf>) -> bool {
    expr.as_const().is_some_and(|value| value != 0)
}

/// Both hold.
pub fn both(a: Expr<Leaf>, b: Expr<Leaf>) -> Expr<Leaf> {
    match (is_true(&a), is_true(&b)) {
        (true, _) => b,
        (_, true) => a,
        (false, false) => Expr::Binary(BinOp::And, Box::new(a), Box::new(b)).fold(),
    }
}

/// One of them holds.
fn either(a: Expr<Leaf>, b: Expr<Leaf>) -> Expr<Leaf> {
    Expr::Binary(BinOp::Or, Box::new(a), Box::new(b)).fold()
}
