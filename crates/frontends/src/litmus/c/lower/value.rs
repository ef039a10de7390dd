//! Expressions: what they are worth, which locations they name.
//!
//! A value is an expression over registers; each load in it has been made by then, into a register of its own.
//! So an expression reads its locations from left to right, each once.

use fencepost_ir::{Address, BinOp, Expr, Loc, Op, Reg, Span, UnOp};

use super::super::super::ast::Constant;
use super::super::super::wrong::Wrong;
use super::super::ast::{Expression, ExpressionKind};
use super::{Local, Lowerer};

/// The most that addresses from registers may take together, counted in locations.
const THROUGH: usize = 1 << 20;

/// What is wanted of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    /// Its value, for the expression around it.
    Inside,
    /// Its value, best in this register; it is all that the statement computes.
    Into(Reg),
    /// What it does; its value is not used.
    Effects,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meant {
    Local(Local),
    /// A parameter that is a location's address.
    Address,
    /// A parameter that is a location.
    Location,
}

pub(super) fn binary(op: BinOp, a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    Expr::Binary(op, Box::new(a), Box::new(b)).fold()
}

impl Lowerer<'_> {
    /// The value of an expression.
    pub(super) fn value(&mut self, expression: &Expression) -> Result<Expr<Reg>, Wrong> {
        self.evaluate(expression, Want::Inside)
    }

    /// The value of an expression that is to be put into a register, and may be there already.
    pub(super) fn value_into(
        &mut self,
        expression: &Expression,
        reg: Reg,
    ) -> Result<Expr<Reg>, Wrong> {
        self.evaluate(expression, Want::Into(reg))
    }

    /// An expression for what it does.
    pub(super) fn effects(&mut self, expression: &Expression) -> Result<(), Wrong> {
        match &expression.kind {
            ExpressionKind::Call(name, arguments) => {
                self.call(expression.span, name, arguments, Want::Effects).map(|_| ())
            }
            _ => self.evaluate(expression, Want::Effects).map(|_| ()),
        }
    }

    /// `target = value;`
    pub(super) fn assignment(
        &mut self,
        target: &Expression,
        value: &Expression,
    ) -> Result<(), Wrong> {
        if let ExpressionKind::Name(name) = &target.kind
            && !matches!(self.meant(name), Some(Meant::Address | Meant::Location))
        {
            self.check_undeclared(name, target.span)?;
            let reg = self.declare(name, self.is_address(value), target.span)?;
            return self.set(reg, value);
        }
        let to = self.place(target)?;
        let value = self.value(value)?;
        self.mark(self.root);
        self.asm.emit(Op::Store { to, value });
        Ok(())
    }

    /// What a name stands for, if it stands for something.
    pub(super) fn meant(&self, name: &str) -> Option<Meant> {
        if let Some(local) = self.locals.get(name) {
            return Some(Meant::Local(*local));
        }
        let parameter = self.function.parameters.iter().find(|p| p.name == name)?;
        Some(if parameter.pointer { Meant::Address } else { Meant::Location })
    }

    fn named(&self, name: &str, span: Span) -> Result<Meant, Wrong> {
        self.meant(name).ok_or_else(|| {
            let message = format!("`{name}` is neither a parameter nor a local of this function");
            Wrong::name(span, message)
        })
    }

    /// A local need not be declared; but a location that is no parameter was probably meant to be one.
    fn check_undeclared(&self, name: &str, span: Span) -> Result<(), Wrong> {
        let is_location = self.layout.cell(name, None, span).is_ok();
        if is_location && !self.locals.contains_key(name) {
            let message = format!("the location `{name}` is no parameter of this function");
            return Err(Wrong::name(span, message).hint(format!("as in `P0(int *{name})`")));
        }
        Ok(())
    }

    /// Whether an expression is meant as an address.
    pub(super) fn is_address(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Name(name) => match self.meant(name) {
                Some(Meant::Address) => true,
                Some(Meant::Local(local)) => local.pointer,
                Some(Meant::Location) | None => false,
            },
            ExpressionKind::Address(_) => true,
            ExpressionKind::Select(_, a, b) => self.is_address(a) || self.is_address(b),
            ExpressionKind::Number(_)
            | ExpressionKind::Unary(..)
            | ExpressionKind::Binary(..)
            | ExpressionKind::Target(_)
            | ExpressionKind::Element(..)
            | ExpressionKind::Call(..) => false,
        }
    }

    /// Whether an expression accesses locations.
    fn touches(&self, expression: &Expression) -> bool {
        let mut found = false;
        expression.for_each(&mut |part| {
            found |= match &part.kind {
                ExpressionKind::Target(_)
                | ExpressionKind::Element(..)
                | ExpressionKind::Call(..) => true,
                ExpressionKind::Name(name) => matches!(self.meant(name), Some(Meant::Location)),
                ExpressionKind::Number(_)
                | ExpressionKind::Unary(..)
                | ExpressionKind::Binary(..)
                | ExpressionKind::Select(..)
                | ExpressionKind::Address(_) => false,
            }
        });
        found
    }

    fn evaluate(&mut self, expression: &Expression, want: Want) -> Result<Expr<Reg>, Wrong> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Number(value) => Ok(Expr::Const(self.layout.int(*value, span)?)),
            ExpressionKind::Name(name) => match self.named(name, span)? {
                Meant::Local(local) => Ok(Expr::Var(local.reg)),
                Meant::Address => self.address_of(expression),
                Meant::Location => {
                    let from = self.place(expression)?;
                    self.load(from, want, span)
                }
            },
            ExpressionKind::Unary(UnOp::Neg, operand)
                if matches!(operand.kind, ExpressionKind::Number(_)) =>
            {
                let ExpressionKind::Number(value) = operand.kind else {
                    unreachable!("it was just seen to be a number")
                };
                Ok(Expr::Const(self.layout.int(-value, span)?))
            }
            ExpressionKind::Unary(op, operand) => {
                if *op != UnOp::Not {
                    self.computes(span, &[operand])?;
                }
                let operand = self.value(operand)?;
                Ok(Expr::Unary(*op, Box::new(operand)).fold())
            }
            ExpressionKind::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
                if self.touches(b) {
                    return self.step_by_step(*op, a, b);
                }
                let (a, b) = (self.value(a)?, self.value(b)?);
                Ok(binary(*op, a, b))
            }
            ExpressionKind::Binary(op, a, b) => {
                if !matches!(op, BinOp::Eq | BinOp::Ne) {
                    self.computes(span, &[a, b])?;
                }
                let (a, b) = (self.value(a)?, self.value(b)?);
                Ok(binary(*op, a, b))
            }
            ExpressionKind::Select(condition, a, b) => {
                if self.touches(a) || self.touches(b) {
                    return self.either(condition, a, b);
                }
                let condition = self.value(condition)?;
                let (a, b) = (self.value(a)?, self.value(b)?);
                Ok(Expr::Select(Box::new(condition), Box::new(a), Box::new(b)).fold())
            }
            ExpressionKind::Target(_) | ExpressionKind::Element(..) => {
                let from = self.place(expression)?;
                self.load(from, want, span)
            }
            ExpressionKind::Address(place) => self.address_of(place),
            ExpressionKind::Call(name, arguments) => {
                let value = self.call(span, name, arguments, want)?;
                value.ok_or_else(|| Wrong::syntax(span, format!("`{name}` yields no value")))
            }
        }
    }

    /// Notes that values are computed with, which addresses cannot be.
    fn computes(&mut self, span: Span, operands: &[&Expression]) -> Result<(), Wrong> {
        self.layout.computes(span);
        match operands.iter().find(|operand| self.is_address(operand)) {
            None => Ok(()),
            Some(address) => {
                Err(Wrong::unsupported(address.span, "computing with addresses is not supported")
                    .hint("an array's element is `a[1]`"))
            }
        }
    }

    /// `a && b` or `a || b`, where looking at `b` is something that others may notice.
    fn step_by_step(
        &mut self,
        op: BinOp,
        a: &Expression,
        b: &Expression,
    ) -> Result<Expr<Reg>, Wrong> {
        let truth = |value| binary(BinOp::Ne, value, Expr::Const(0));
        let first = self.value(a)?;
        let (reg, end) = (self.temporary(a.span)?, self.asm.target());
        self.mark(a.span);
        self.asm.assign(reg, truth(first));
        if op == BinOp::And {
            self.asm.jump_unless(Expr::Var(reg), end);
        } else {
            self.asm.jump_if(Expr::Var(reg), end);
        }
        let second = self.value(b)?;
        self.mark(b.span);
        self.asm.assign(reg, truth(second));
        self.asm.bind(end);
        Ok(Expr::Var(reg))
    }

    /// `condition ? a : b`, where looking at `a` or `b` is something that others may notice.
    fn either(
        &mut self,
        condition: &Expression,
        a: &Expression,
        b: &Expression,
    ) -> Result<Expr<Reg>, Wrong> {
        let cond = self.value(condition)?;
        let reg = self.temporary(condition.span)?;
        let (other, end) = (self.asm.target(), self.asm.target());
        self.mark(condition.span);
        self.asm.jump_unless(cond, other);
        let value = self.value(a)?;
        self.mark(a.span);
        self.asm.assign(reg, value);
        self.asm.jump(end);
        self.asm.bind(other);
        let value = self.value(b)?;
        self.mark(b.span);
        self.asm.assign(reg, value);
        self.asm.bind(end);
        Ok(Expr::Var(reg))
    }

    /// Where to put a value that is made in one step.
    pub(super) fn destination(&mut self, want: Want, span: Span) -> Result<Reg, Wrong> {
        match want {
            Want::Into(reg) => Ok(reg),
            Want::Inside | Want::Effects => self.temporary(span),
        }
    }

    /// What follows is the access of an expression, or of the statement that it is.
    pub(super) fn mark_access(&mut self, want: Want, span: Span) {
        match want {
            Want::Inside => self.mark(span),
            Want::Into(_) | Want::Effects => self.mark(self.root),
        }
    }

    fn load(&mut self, from: Address, want: Want, span: Span) -> Result<Expr<Reg>, Wrong> {
        let reg = self.destination(want, span)?;
        self.mark_access(want, span);
        self.asm.emit(Op::Load { reg, from });
        Ok(Expr::Var(reg))
    }

    /// The location that an expression names.
    pub(super) fn place(&mut self, expression: &Expression) -> Result<Address, Wrong> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Target(address) => self.pointed(address),
            ExpressionKind::Element(name, index) => self.element(name, index, span),
            ExpressionKind::Name(name) => match self.named(name, span)? {
                Meant::Location => self.layout.cell(name, None, span).map(Address::fixed),
                Meant::Address => Err(Wrong::syntax(span, format!("`{name}` is an address"))
                    .hint(format!("the location is `*{name}`"))),
                Meant::Local(_) => {
                    Err(Wrong::unsupported(span, format!("`{name}` is a local, no location")))
                }
            },
            ExpressionKind::Number(_)
            | ExpressionKind::Unary(..)
            | ExpressionKind::Binary(..)
            | ExpressionKind::Select(..)
            | ExpressionKind::Address(_)
            | ExpressionKind::Call(..) => Err(Wrong::syntax(span, "this names no location")),
        }
    }

    /// The location that an address leads to.
    pub(super) fn pointed(&mut self, address: &Expression) -> Result<Address, Wrong> {
        let span = address.span;
        match &address.kind {
            ExpressionKind::Name(name) if matches!(self.meant(name), Some(Meant::Address)) => {
                return self.layout.cell(name, None, span).map(Address::fixed);
            }
            ExpressionKind::Address(place) => {
                // `&x` is forgiven where `x` already is an address.
                return match &place.kind {
                    ExpressionKind::Name(name)
                        if matches!(self.meant(name), Some(Meant::Address)) =>
                    {
                        self.layout.cell(name, None, span).map(Address::fixed)
                    }
                    _ => self.place(place),
                };
            }
            _ => {}
        }
        let mut value = self.value(address)?;
        if !matches!(value, Expr::Const(_) | Expr::Var(_)) {
            let reg = self.temporary(span)?;
            self.mark(span);
            self.asm.assign(reg, value);
            value = Expr::Var(reg);
        }
        self.through += self.cells;
        if self.through > THROUGH {
            return Err(Wrong::too_large(span, "these are too many accesses through pointers"));
        }
        self.layout.through(&value, span)
    }

    /// `name[index]`
    fn element(&mut self, name: &str, index: &Expression, span: Span) -> Result<Address, Wrong> {
        if let Meant::Local(_) = self.named(name, span)? {
            let message = format!("`{name}` is a local, and only parameters are arrays");
            return Err(Wrong::unsupported(span, message));
        }
        let index = self.value(index)?;
        let is_array = self.layout.is_array(name);
        let constant = index.as_const().and_then(|at| u32::try_from(at).ok());
        match constant {
            Some(0) if !is_array => self.layout.cell(name, None, span).map(Address::fixed),
            Some(at) => self.layout.cell(name, Some(at), span).map(Address::fixed),
            None if !is_array => Err(Wrong::name(span, format!("`{name}` is no array"))),
            None => {
                let first: Loc = self.layout.cell(name, Some(0), span)?;
                let has = |at: &u32| self.layout.cell(name, Some(*at), span).is_ok();
                let len = (0..).take_while(has).count() as u32;
                self.layout.computes(span);
                Ok(Address { base: first, cell: None, index: Some((len, index)) })
            }
        }
    }

    /// The address of a location, as a value.
    fn address_of(&mut self, place: &Expression) -> Result<Expr<Reg>, Wrong> {
        let span = place.span;
        let constant = match &place.kind {
            ExpressionKind::Name(name) => match self.named(name, span)? {
                Meant::Address | Meant::Location => Constant::Address(name.clone()),
                Meant::Local(_) => {
                    let message = format!("the address of `{name}`, a local, is not supported");
                    return Err(Wrong::unsupported(span, message));
                }
            },
            ExpressionKind::Element(name, index) => {
                let at = match index.kind {
                    ExpressionKind::Number(at) => u32::try_from(at).ok(),
                    _ => None,
                };
                let message = "the address of an element that is not known is not supported";
                let at = at.ok_or_else(|| Wrong::unsupported(span, message))?;
                Constant::Element(name.clone(), at)
            }
            ExpressionKind::Target(address) => return self.value(address),
            _ => return Err(Wrong::syntax(span, "this names no location")),
        };
        Ok(Expr::Const(self.layout.constant(&constant, span)?))
    }
}
