//! Parses expressions with the precedences of C.
//!
//! Assignments, `+=`, `++` and similar are statements, not expressions. Casts have no effect,
//! because all values are integers. `true` and `false` are 1 and 0.

use fencepost_ir::{BinOp, Span, UnOp};

use super::super::super::error::LitmusError;
use super::super::super::tokens::Tok;
use super::super::ast::{Expression, ExpressionKind};
use super::{MAX_DEPTH, Parser, too_deep};

/// Words that start a type, in addition to those that end in `_t`.
const TYPES: [&str; 19] = [
    "void",
    "int",
    "char",
    "short",
    "long",
    "unsigned",
    "signed",
    "bool",
    "_Bool",
    "volatile",
    "const",
    "struct",
    "static",
    "register",
    "_Atomic",
    "atomic_int",
    "atomic_uint",
    "atomic_long",
    "atomic_bool",
];

/// Returns whether a word starts a type.
pub(super) fn is_type(word: &str) -> bool {
    TYPES.contains(&word) || word.ends_with("_t")
}

/// The precedence of `||`. Operators that bind tighter have a higher precedence.
const MIN_PRECEDENCE: u8 = 1;

/// Returns the precedence and the operation of a binary operator.
fn binary_operator(kind: Tok) -> Option<(u8, BinOp)> {
    Some(match kind {
        Tok::OrOr => (MIN_PRECEDENCE, BinOp::Or),
        Tok::AndAnd => (2, BinOp::And),
        Tok::Bar => (3, BinOp::BitOr),
        Tok::Caret => (4, BinOp::BitXor),
        Tok::Amp => (5, BinOp::BitAnd),
        Tok::EqEq => (6, BinOp::Eq),
        Tok::NotEq => (6, BinOp::Ne),
        Tok::Lt => (7, BinOp::Lt),
        Tok::Le => (7, BinOp::Le),
        Tok::Gt => (7, BinOp::Gt),
        Tok::Ge => (7, BinOp::Ge),
        Tok::Shl => (8, BinOp::Shl),
        Tok::Shr => (8, BinOp::Shr),
        Tok::Plus => (9, BinOp::Add),
        Tok::Minus => (9, BinOp::Sub),
        Tok::Star => (10, BinOp::Mul),
        Tok::Slash => (10, BinOp::Div),
        Tok::Percent => (10, BinOp::Rem),
        _ => return None,
    })
}

/// Creates an expression. Fails if it is nested too deeply.
pub(super) fn new_expression(kind: ExpressionKind, span: Span) -> Result<Expression, LitmusError> {
    let height = 1 + kind.children().iter().map(|part| part.height).max().unwrap_or(0);
    if height > MAX_DEPTH { Err(too_deep(span)) } else { Ok(Expression { kind, span, height }) }
}

impl Parser<'_, '_> {
    /// Parses an expression.
    pub(super) fn expression(&mut self) -> Result<Expression, LitmusError> {
        let first = self.tokens.peek().span;
        self.enter(first)?;
        let left = self.unary()?;
        let found = self.expression_from(left)?;
        self.depth -= 1;
        Ok(found)
    }

    /// Parses the rest of an expression after its first operand.
    pub(super) fn expression_from(&mut self, left: Expression) -> Result<Expression, LitmusError> {
        let first = left.span;
        let mut found = self.binary_from(left, MIN_PRECEDENCE)?;
        if self.tokens.eat(Tok::Question) {
            let then = Box::new(self.expression()?);
            self.tokens.expect(Tok::Colon, "`:`")?;
            let otherwise = Box::new(self.expression()?);
            let span = first.to(self.tokens.last_span());
            found = new_expression(ExpressionKind::Select(Box::new(found), then, otherwise), span)?;
        }
        Ok(found)
    }

    /// Parses the binary operators of at least this precedence after an operand.
    fn binary_from(
        &mut self,
        mut left: Expression,
        min_precedence: u8,
    ) -> Result<Expression, LitmusError> {
        loop {
            let token = self.tokens.peek();
            let Some((precedence, op)) = binary_operator(token.kind) else { return Ok(left) };
            if precedence < min_precedence {
                return Ok(left);
            }
            self.reject_assignment()?;
            self.tokens.take();
            let right = self.unary()?;
            let right = self.binary_from(right, precedence + 1)?;
            let span = left.span.to(right.span);
            left =
                new_expression(ExpressionKind::Binary(op, Box::new(left), Box::new(right)), span)?;
        }
    }

    /// Returns whether the next two tokens are adjacent.
    fn is_adjacent(&self) -> bool {
        self.tokens.peek().span.end == self.tokens.span_at(1).start
    }

    /// Returns the operation of `++` or `--`, if it comes next.
    pub(super) fn increment(&self) -> Option<BinOp> {
        let kind = self.tokens.kind();
        if self.tokens.kind_at(1) != kind || !self.is_adjacent() {
            return None;
        }
        match kind {
            Tok::Plus => Some(BinOp::Add),
            Tok::Minus => Some(BinOp::Sub),
            _ => None,
        }
    }

    /// Returns the operation of `+=` or another compound assignment, if it comes next.
    pub(super) fn compound_operator(&self) -> Option<BinOp> {
        let (_, op) = binary_operator(self.tokens.kind())?;
        let is_compound = self.tokens.kind_at(1) == Tok::Eq && self.is_adjacent();
        is_compound.then_some(op).filter(|op| {
            !matches!(op, BinOp::And | BinOp::Or | BinOp::Lt | BinOp::Gt | BinOp::Le | BinOp::Ge)
        })
    }

    /// Fails at `++`, `--`, `+=` and similar operators inside of an expression.
    fn reject_assignment(&mut self) -> Result<(), LitmusError> {
        if self.increment().is_none() && self.compound_operator().is_none() {
            return Ok(());
        }
        let text = format!("{0}{1}", self.tokens.word(), self.tokens.word_at(1));
        let message = format!("`{text}` is not supported inside of an expression");
        Err(LitmusError::unsupported(self.tokens.peek().span, message)
            .hint("write a separate statement, as in `r += 1;`"))
    }

    pub(super) fn unary(&mut self) -> Result<Expression, LitmusError> {
        let token = self.tokens.peek();
        self.enter(token.span)?;
        let prefix = matches!(
            token.kind,
            Tok::Bang | Tok::Minus | Tok::Plus | Tok::Tilde | Tok::Star | Tok::Amp
        );
        let found = if prefix {
            self.reject_assignment()?;
            self.tokens.take();
            let operand = self.unary()?;
            let span = token.span.to(operand.span);
            let operand = Box::new(operand);
            match token.kind {
                Tok::Bang => new_expression(ExpressionKind::Unary(UnOp::Not, operand), span)?,
                Tok::Minus => new_expression(ExpressionKind::Unary(UnOp::Neg, operand), span)?,
                Tok::Tilde => new_expression(ExpressionKind::Unary(UnOp::BitNot, operand), span)?,
                Tok::Star => new_expression(ExpressionKind::Deref(operand), span)?,
                Tok::Amp => new_expression(ExpressionKind::AddressOf(operand), span)?,
                _ => *operand,
            }
        } else if self.is_cast_next() {
            while !self.tokens.eat(Tok::RParen) {
                self.tokens.take();
            }
            self.unary()?
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Ok(found)
    }

    /// Returns whether a cast comes next: `(int)`, `(int *)`.
    fn is_cast_next(&self) -> bool {
        if self.tokens.kind() != Tok::LParen || !is_type(self.tokens.word_at(1)) {
            return false;
        }
        let mut at = 1;
        while self.tokens.kind_at(at) == Tok::Name {
            at += 1;
        }
        while self.tokens.kind_at(at) == Tok::Star {
            at += 1;
        }
        self.tokens.kind_at(at) == Tok::RParen
    }

    fn primary(&mut self) -> Result<Expression, LitmusError> {
        let token = self.tokens.peek();
        match token.kind {
            Tok::Number => {
                let value = self.tokens.number("a number")?;
                new_expression(ExpressionKind::Number(value), token.span)
            }
            Tok::LParen => {
                self.tokens.take();
                let inner = self.expression()?;
                self.tokens.expect(Tok::RParen, "`)`")?;
                Ok(Expression { span: token.span.to(self.tokens.last_span()), ..inner })
            }
            Tok::Name => {
                let name = self.tokens.name("a name")?.to_string();
                if self.tokens.eat(Tok::LParen) {
                    return self.call(name, token.span);
                }
                if self.tokens.eat(Tok::LBracket) {
                    let index = Box::new(self.expression()?);
                    self.tokens.expect(Tok::RBracket, "`]`")?;
                    let span = token.span.to(self.tokens.last_span());
                    return new_expression(ExpressionKind::Index(name, index), span);
                }
                let constant = match name.as_str() {
                    "NULL" | "false" => Some(0),
                    "true" => Some(1),
                    _ => None,
                };
                if let Some(value) = constant {
                    return new_expression(ExpressionKind::Number(value), token.span);
                }
                new_expression(ExpressionKind::Name(name), token.span)
            }
            _ => Err(self.tokens.unexpected("a value")),
        }
    }

    /// Parses a call after its opening parenthesis.
    fn call(&mut self, name: String, first: Span) -> Result<Expression, LitmusError> {
        let mut arguments = Vec::new();
        while self.tokens.kind() != Tok::RParen {
            arguments.push(self.expression()?);
            if !self.tokens.eat(Tok::Comma) {
                break;
            }
        }
        self.tokens.expect(Tok::RParen, "`)` after the arguments")?;
        new_expression(ExpressionKind::Call(name, arguments), first.to(self.tokens.last_span()))
    }
}
