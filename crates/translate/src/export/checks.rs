//! What must hold so that a statement does not fault, for languages that do not look.
//!
//! Which checks are needed is decided with the ranges of registers and locations: most are not. Direction: exact
//! but for products and shifts that may leave 32 bits, which are refused.

use super::guards::{Leaf, both, is_true, negation};
use super::substitute::substitute;
use crate::Unsupported;
use fencepost_ir::interval::{Range, interval, join};
use fencepost_ir::range::{Ranges, ranges};
use fencepost_ir::{
    Address, BinOp, Expr, Loc, Op, Program, Reg, Thread, Type, UnOp, Update, Value,
};
use std::cell::RefCell;
use std::collections::BTreeMap;

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

    /// That a value may be put where this type is.
    fn fits(&self, expr: &Expr<Leaf>, ty: &Type) -> Expr<Leaf> {
        self.program.limits(ty).map_or(Expr::Const(1), |limits| self.within(expr, limits))
    }

    /// That a value may be put into any of the locations that an address means.
    fn fits_at(&self, expr: &Expr<Leaf>, at: &Address) -> Expr<Leaf> {
        let mut fine = Expr::Const(1);
        let mut known: Vec<Option<Range>> = Vec::new();
        for loc in fencepost_ir::range::footprint(self.program, at) {
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

/// One of them holds.
fn either(a: Expr<Leaf>, b: Expr<Leaf>) -> Expr<Leaf> {
    Expr::Binary(BinOp::Or, Box::new(a), Box::new(b)).fold()
}

/// How a statement sees the state.
pub trait View {
    /// What an expression is.
    fn value(&self, expr: &Expr<Reg>) -> Expr<Leaf>;
    /// Where an address is.
    fn place(&self, at: &Address) -> Leaf;
    /// What is there.
    fn read(&self, at: &Address) -> Expr<Leaf>;
}

/// The state as it is, but for some registers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Env {
    /// What they stand for.
    pub registers: BTreeMap<Reg, Expr<Leaf>>,
}

impl View for Env {
    fn value(&self, expr: &Expr<Reg>) -> Expr<Leaf> {
        let leaf =
            |reg: &Reg| self.registers.get(reg).cloned().unwrap_or(Expr::Var(Leaf::Reg(*reg)));
        substitute(expr, &leaf).fold()
    }

    fn place(&self, at: &Address) -> Leaf {
        let Some((len, index)) = &at.index else { return Leaf::Loc(at.base) };
        let index = self.value(index);
        match index.as_const() {
            Some(element) if element >= 0 && element < *len as Value => {
                Leaf::Loc(Loc(at.base.0 + element as u32))
            }
            _ => Leaf::Element(at.base, *len, Box::new(index)),
        }
    }

    fn read(&self, at: &Address) -> Expr<Leaf> {
        Expr::Var(self.place(at))
    }
}

/// What must hold so that a statement does not fault.
pub fn always_right(
    op: &Op,
    thread: &Thread,
    facts: &Facts<'_>,
    view: &impl View,
) -> Result<Expr<Leaf>, Unsupported> {
    let ty = |reg: &Reg| &thread.registers[reg.index()].ty;
    let value = |expr: &Expr<Reg>| view.value(expr);
    let reaches = |at: &Address| facts.evaluates(&Expr::Var(view.place(at)));
    let checked = |expr: &Expr<Leaf>| facts.evaluates(expr);
    Ok(match op {
        Op::Assign { reg, expr } => {
            let new = value(expr);
            both(checked(&new)?, facts.fits(&new, ty(reg)))
        }
        Op::Choose { reg, lo, hi } => {
            let fits = |value| facts.fits(&Expr::Const(value), ty(reg));
            both(fits(*lo), fits(*hi))
        }
        Op::Load { reg, from } => both(reaches(from)?, facts.fits(&view.read(from), ty(reg))),
        Op::Store { to, value: expr } => {
            let new = value(expr);
            let place = reaches(to)?;
            both(both(place, checked(&new)?), facts.fits_at(&new, to))
        }
        Op::Update { reg, at, update } => {
            let old = view.read(at);
            let place = reaches(at)?;
            let binary =
                |op, b: Expr<Leaf>| Expr::Binary(op, Box::new(old.clone()), Box::new(b)).fold();
            let (operands, new, yields) = match update {
                Update::Cas { expected, new } => {
                    let (expected, new) = (value(expected), value(new));
                    let operands = both(checked(&expected)?, checked(&new)?);
                    let equal = binary(BinOp::Eq, expected);
                    // What is not written need not fit.
                    let fine = facts.fits_at(&new, at);
                    let fine =
                        if is_true(&fine) { fine } else { either(negation(equal.clone()), fine) };
                    (
                        both(operands, fine),
                        Expr::Const(0),
                        Expr::Select(
                            Box::new(equal),
                            Box::new(Expr::Const(1)),
                            Box::new(Expr::Const(0)),
                        ),
                    )
                }
                Update::Swap { new } => {
                    let new = value(new);
                    (checked(&new)?, new, old.clone())
                }
                Update::Add { by } => {
                    let new = binary(BinOp::Add, value(by));
                    (checked(&new)?, new, old.clone())
                }
                Update::Bits { op, by } => {
                    let new = binary(*op, value(by));
                    (checked(&new)?, new, old.clone())
                }
            };
            let written = match update {
                Update::Cas { .. } => Expr::Const(1),
                Update::Swap { .. } | Update::Add { .. } | Update::Bits { .. } => {
                    facts.fits_at(&new, at)
                }
            };
            let kept = reg.as_ref().map_or(Expr::Const(1), |reg| facts.fits(&yields, ty(reg)));
            both(both(place, operands), both(written, kept))
        }
        Op::Drain(at) => reaches(at)?,
        Op::Branch { cond, .. } | Op::Assume(cond) | Op::Assert(cond) => checked(&value(cond))?,
        Op::Skip
        | Op::Fence(_)
        | Op::New { .. }
        | Op::Free { .. }
        | Op::Leave
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Invoke { .. }
        | Op::Return { .. }
        | Op::Halt => Expr::Const(1),
    })
}
