//! Lowers expressions to values and lvalues.
//!
//! A value is an expression over registers. Each load of the source expression is emitted before,
//! into a separate register. So an expression loads its locations from left to right, each access
//! once.

use fencepost_ir::{Address, BinOp, Expr, Loc, Op, Reg, Span, UnOp};

use super::super::super::ast::Constant;
use super::super::super::error::LitmusError;
use super::super::super::wrap::{in_64_bits, negated_in_64_bits};
use super::super::ast::{Expression, ExpressionKind};
use super::{Local, Lowerer};

/// The maximum total size of all computed addresses of a thread, in locations.
const MAX_INDIRECT_SIZE: usize = 1 << 20;

/// How the value of an expression is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ResultUse {
    /// The value is an operand of the enclosing expression.
    Operand,
    /// The value is the result of the statement, preferably in this register.
    Into(Reg),
    /// The value is not used.
    Discarded,
}

/// The meaning of a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum NameKind {
    /// A local.
    Local(Local),
    /// A pointer parameter: the address of a location.
    Address,
    /// A non-pointer parameter: the value of a location.
    Location,
}

pub(super) fn binary(op: BinOp, a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    Expr::Binary(op, Box::new(a), Box::new(b)).fold()
}

impl Lowerer<'_> {
    /// Lowers an expression that is an operand. Returns its value.
    pub(super) fn value(&mut self, expression: &Expression) -> Result<Expr<Reg>, LitmusError> {
        self.evaluate(expression, ResultUse::Operand)
    }

    /// Lowers an expression whose value is assigned to `reg`. The value may already be in `reg`.
    pub(super) fn value_into(
        &mut self,
        expression: &Expression,
        reg: Reg,
    ) -> Result<Expr<Reg>, LitmusError> {
        self.evaluate(expression, ResultUse::Into(reg))
    }

    /// Lowers an expression for its side effects.
    pub(super) fn effects(&mut self, expression: &Expression) -> Result<(), LitmusError> {
        match &expression.kind {
            ExpressionKind::Call(name, arguments) => {
                self.call(expression.span, name, arguments, ResultUse::Discarded).map(|_| ())
            }
            _ => self.evaluate(expression, ResultUse::Discarded).map(|_| ()),
        }
    }

    /// Lowers `target = value;`.
    pub(super) fn assignment(
        &mut self,
        target: &Expression,
        value: &Expression,
    ) -> Result<(), LitmusError> {
        if let ExpressionKind::Name(name) = &target.kind
            && !matches!(self.resolve_name(name), Some(NameKind::Address | NameKind::Location))
        {
            self.check_undeclared(name, target.span)?;
            let is_new = !self.locals.contains_key(name);
            let reg = self.declare(name, self.is_address(value), target.span)?;
            if is_new {
                self.set_64_bit(name, self.is_64_bit(value));
            }
            return self.assign_local(reg, value);
        }
        let to = self.lvalue(target)?;
        let value = self.value(value)?;
        self.mark_source(self.statement_span);
        self.asm.emit(Op::Store { to, value });
        Ok(())
    }

    /// Returns the meaning of a name; `None` for an unknown name.
    pub(super) fn resolve_name(&self, name: &str) -> Option<NameKind> {
        if let Some(local) = self.locals.get(name) {
            return Some(NameKind::Local(*local));
        }
        let parameter = self.function.parameters.iter().find(|p| p.name == name)?;
        Some(if parameter.pointer { NameKind::Address } else { NameKind::Location })
    }

    fn require_name(&self, name: &str, span: Span) -> Result<NameKind, LitmusError> {
        self.resolve_name(name).ok_or_else(|| {
            let message = format!("`{name}` is neither a parameter nor a local of this function");
            LitmusError::name(span, message)
                .hint(format!("add the parameter `int *{name}`, or declare the local `int {name}`"))
        })
    }

    /// Checks an assignment to an undeclared name. Locals need no declaration. But a location that
    /// is not a parameter was probably forgotten in the parameter list.
    fn check_undeclared(&self, name: &str, span: Span) -> Result<(), LitmusError> {
        let is_location = self.layout.cell(name, None, span).is_ok();
        if is_location && !self.locals.contains_key(name) {
            let message = format!("the location `{name}` is not a parameter of this function");
            return Err(LitmusError::name(span, message)
                .hint(format!("add a parameter, as in `P0(int *{name})`")));
        }
        Ok(())
    }

    /// Returns whether an expression is an address, by its form and by the declared types.
    pub(super) fn is_address(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Name(name) => match self.resolve_name(name) {
                Some(NameKind::Address) => true,
                Some(NameKind::Local(local)) => local.pointer,
                Some(NameKind::Location) | None => false,
            },
            ExpressionKind::AddressOf(_) => true,
            ExpressionKind::Select(_, a, b) => self.is_address(a) || self.is_address(b),
            // The difference of two addresses is a number.
            ExpressionKind::Binary(BinOp::Add, a, b) => self.is_address(a) || self.is_address(b),
            ExpressionKind::Binary(BinOp::Sub, a, b) => self.is_address(a) && !self.is_address(b),
            ExpressionKind::Number(_)
            | ExpressionKind::Unary(..)
            | ExpressionKind::Binary(..)
            | ExpressionKind::Deref(_)
            | ExpressionKind::Index(..)
            | ExpressionKind::Call(..) => false,
        }
    }

    /// Returns whether an expression accesses locations.
    fn accesses_memory(&self, expression: &Expression) -> bool {
        let mut found = false;
        expression.for_each(&mut |part| {
            found |= match &part.kind {
                ExpressionKind::Deref(_) | ExpressionKind::Index(..) | ExpressionKind::Call(..) => {
                    true
                }
                ExpressionKind::Name(name) => {
                    matches!(self.resolve_name(name), Some(NameKind::Location))
                }
                ExpressionKind::Number(_)
                | ExpressionKind::Unary(..)
                | ExpressionKind::Binary(..)
                | ExpressionKind::Select(..)
                | ExpressionKind::AddressOf(_) => false,
            }
        });
        found
    }

    fn evaluate(
        &mut self,
        expression: &Expression,
        result_use: ResultUse,
    ) -> Result<Expr<Reg>, LitmusError> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Number(value) => Ok(Expr::Const(self.layout.int(*value, span)?)),
            ExpressionKind::Name(name) => match self.require_name(name, span)? {
                NameKind::Local(local) => Ok(Expr::Var(local.reg)),
                NameKind::Address => self.address_of(expression),
                NameKind::Location => {
                    let from = self.lvalue(expression)?;
                    self.load(from, result_use, span)
                }
            },
            ExpressionKind::Unary(UnOp::Neg, operand)
                if matches!(operand.kind, ExpressionKind::Number(_)) =>
            {
                let ExpressionKind::Number(value) = operand.kind else {
                    unreachable!("the guard checks that the operand is a number")
                };
                Ok(Expr::Const(self.layout.int(-value, span)?))
            }
            ExpressionKind::Unary(op, operand) => {
                if *op != UnOp::Not {
                    self.check_arithmetic(&[operand])?;
                }
                let is_64_bit = self.is_64_bit(operand);
                let operand = self.value(operand)?;
                Ok(match op {
                    UnOp::Neg if is_64_bit => negated_in_64_bits(operand),
                    UnOp::Neg | UnOp::Not | UnOp::BitNot => Expr::Unary(*op, Box::new(operand)),
                }
                .fold())
            }
            ExpressionKind::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
                if self.accesses_memory(b) {
                    return self.short_circuit(*op, a, b);
                }
                let (a, b) = (self.value(a)?, self.value(b)?);
                Ok(binary(*op, a, b))
            }
            ExpressionKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b)
                if self.is_address(a) || self.is_address(b) =>
            {
                self.address_arithmetic(*op, a, b, span)
            }
            ExpressionKind::Binary(op, a, b) => {
                if !matches!(op, BinOp::Eq | BinOp::Ne) {
                    self.check_arithmetic(&[a, b])?;
                }
                let op = if self.is_64_bit(expression) { in_64_bits(*op) } else { *op };
                let (a, b) = (self.value(a)?, self.value(b)?);
                Ok(binary(op, a, b))
            }
            ExpressionKind::Select(condition, a, b) => {
                if self.accesses_memory(a) || self.accesses_memory(b) {
                    return self.conditional(condition, a, b);
                }
                let condition = self.value(condition)?;
                let (a, b) = (self.value(a)?, self.value(b)?);
                Ok(Expr::Select(Box::new(condition), Box::new(a), Box::new(b)).fold())
            }
            ExpressionKind::Deref(_) | ExpressionKind::Index(..) => {
                let from = self.lvalue(expression)?;
                self.load(from, result_use, span)
            }
            ExpressionKind::AddressOf(place) => self.address_of(place),
            ExpressionKind::Call(name, arguments) => {
                let value = self.call(span, name, arguments, result_use)?;
                value.ok_or_else(|| {
                    LitmusError::syntax(
                        span,
                        format!("`{name}` returns no value: call it as a statement"),
                    )
                })
            }
        }
    }

    /// Checks the operands of arithmetic. Fails if one is an address.
    fn check_arithmetic(&self, operands: &[&Expression]) -> Result<(), LitmusError> {
        match operands.iter().find(|operand| self.is_address(operand)) {
            None => Ok(()),
            Some(address) => Err(LitmusError::unsupported(
                address.span,
                "this operator is not supported on addresses",
            )
            .hint("only `+`, `-`, `==` and `!=` apply to addresses")),
        }
    }

    /// Lowers `a && b` or `a || b` with a branch, because `b` accesses memory.
    fn short_circuit(
        &mut self,
        op: BinOp,
        a: &Expression,
        b: &Expression,
    ) -> Result<Expr<Reg>, LitmusError> {
        let truth = |value| binary(BinOp::Ne, value, Expr::Const(0));
        let first = self.value(a)?;
        let (reg, end) = (self.temporary(a.span)?, self.asm.target());
        self.mark_source(a.span);
        self.asm.assign(reg, truth(first));
        if op == BinOp::And {
            self.asm.jump_unless(Expr::Var(reg), end);
        } else {
            self.asm.jump_if(Expr::Var(reg), end);
        }
        let second = self.value(b)?;
        self.mark_source(b.span);
        self.asm.assign(reg, truth(second));
        self.asm.bind(end);
        Ok(Expr::Var(reg))
    }

    /// Lowers `condition ? a : b` with a branch, because `a` or `b` accesses memory.
    fn conditional(
        &mut self,
        condition: &Expression,
        a: &Expression,
        b: &Expression,
    ) -> Result<Expr<Reg>, LitmusError> {
        let cond = self.value(condition)?;
        let reg = self.temporary(condition.span)?;
        let (other, end) = (self.asm.target(), self.asm.target());
        self.mark_source(condition.span);
        self.asm.jump_unless(cond, other);
        let value = self.value(a)?;
        self.mark_source(a.span);
        self.asm.assign(reg, value);
        self.asm.jump(end);
        self.asm.bind(other);
        let value = self.value(b)?;
        self.mark_source(b.span);
        self.asm.assign(reg, value);
        self.asm.bind(end);
        Ok(Expr::Var(reg))
    }

    /// Returns the register for the result of an access.
    pub(super) fn destination_register(
        &mut self,
        result_use: ResultUse,
        span: Span,
    ) -> Result<Reg, LitmusError> {
        match result_use {
            ResultUse::Into(reg) => Ok(reg),
            ResultUse::Operand | ResultUse::Discarded => self.temporary(span),
        }
    }

    /// Sets the source text of an access: the expression if it is an operand, else the statement.
    pub(super) fn mark_access_source(&mut self, result_use: ResultUse, span: Span) {
        match result_use {
            ResultUse::Operand => self.mark_source(span),
            ResultUse::Into(_) | ResultUse::Discarded => self.mark_source(self.statement_span),
        }
    }

    fn load(
        &mut self,
        from: Address,
        result_use: ResultUse,
        span: Span,
    ) -> Result<Expr<Reg>, LitmusError> {
        let reg = self.destination_register(result_use, span)?;
        self.mark_access_source(result_use, span);
        self.emit_access(Op::Load { reg, from });
        Ok(Expr::Var(reg))
    }

    /// Lowers an lvalue. Returns its location.
    pub(super) fn lvalue(&mut self, expression: &Expression) -> Result<Address, LitmusError> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Deref(address) => self.pointee(address),
            ExpressionKind::Index(name, index) => self.element(name, index, span),
            ExpressionKind::Name(name) => match self.require_name(name, span)? {
                NameKind::Location => self.layout.cell(name, None, span).map(Address::fixed),
                NameKind::Address => {
                    Err(LitmusError::syntax(span, format!("`{name}` is an address"))
                        .hint(format!("write `*{name}` for the location")))
                }
                NameKind::Local(_) => Err(LitmusError::unsupported(
                    span,
                    format!("`{name}` is a local, not a location"),
                )),
            },
            ExpressionKind::Number(_)
            | ExpressionKind::Unary(..)
            | ExpressionKind::Binary(..)
            | ExpressionKind::Select(..)
            | ExpressionKind::AddressOf(_)
            | ExpressionKind::Call(..) => {
                Err(LitmusError::syntax(span, "this expression is not a location"))
            }
        }
    }

    /// Lowers an address. Returns the location that it points to.
    pub(super) fn pointee(&mut self, address: &Expression) -> Result<Address, LitmusError> {
        let span = address.span;
        match &address.kind {
            ExpressionKind::Name(name)
                if matches!(self.resolve_name(name), Some(NameKind::Address)) =>
            {
                return self.layout.cell(name, None, span).map(Address::fixed);
            }
            ExpressionKind::AddressOf(place) => {
                // `&x` is accepted for a pointer parameter `x`, and means `x`.
                return match &place.kind {
                    ExpressionKind::Name(name)
                        if matches!(self.resolve_name(name), Some(NameKind::Address)) =>
                    {
                        self.layout.cell(name, None, span).map(Address::fixed)
                    }
                    _ => self.lvalue(place),
                };
            }
            _ => {}
        }
        let mut value = self.value(address)?;
        if !matches!(value, Expr::Const(_) | Expr::Var(_)) {
            let reg = self.temporary(span)?;
            self.mark_source(span);
            self.asm.assign(reg, value);
            value = Expr::Var(reg);
        }
        self.indirect_size += self.cells;
        if self.indirect_size > MAX_INDIRECT_SIZE {
            return Err(LitmusError::too_large(
                span,
                "the thread has too many accesses through pointers",
            ));
        }
        self.layout.indirect_address(&value, span)
    }

    /// Lowers `name[index]`. Returns its location.
    fn element(
        &mut self,
        name: &str,
        index: &Expression,
        span: Span,
    ) -> Result<Address, LitmusError> {
        if let NameKind::Local(_) = self.require_name(name, span)? {
            let message = format!("`{name}` is a local: only parameters can be arrays");
            return Err(LitmusError::unsupported(span, message));
        }
        let index = self.value(index)?;
        let is_array = self.layout.is_array(name);
        let constant = index.as_const().and_then(|at| u32::try_from(at).ok());
        match constant {
            Some(0) if !is_array => self.layout.cell(name, None, span).map(Address::fixed),
            Some(at) => self.layout.cell(name, Some(at), span).map(Address::fixed),
            None if !is_array => Err(LitmusError::name(span, format!("`{name}` is not an array"))),
            None => {
                let first: Loc = self.layout.cell(name, Some(0), span)?;
                let has = |at: &u32| self.layout.cell(name, Some(*at), span).is_ok();
                let len = (0..).take_while(has).count() as u32;
                Ok(Address::element(first, len, index))
            }
        }
    }

    /// Returns the address of an lvalue as a value.
    fn address_of(&mut self, place: &Expression) -> Result<Expr<Reg>, LitmusError> {
        let span = place.span;
        let constant = match &place.kind {
            ExpressionKind::Name(name) => match self.require_name(name, span)? {
                NameKind::Address | NameKind::Location => Constant::Address(name.clone()),
                NameKind::Local(_) => {
                    let message = format!("the address of the local `{name}` is not supported");
                    return Err(LitmusError::unsupported(span, message));
                }
            },
            ExpressionKind::Index(name, index) => {
                let at = match index.kind {
                    ExpressionKind::Number(at) => u32::try_from(at).ok(),
                    _ => None,
                };
                let message =
                    "the address of an element is supported only if the index is a number";
                let at = at.ok_or_else(|| LitmusError::unsupported(span, message))?;
                Constant::Element(name.clone(), at)
            }
            ExpressionKind::Deref(address) => return self.value(address),
            _ => return Err(LitmusError::syntax(span, "this expression is not a location")),
        };
        Ok(Expr::Const(self.layout.constant(&constant, span)?))
    }
}
