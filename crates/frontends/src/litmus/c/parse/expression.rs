//! Expressions, by the precedences of C.
//!
//! Assignments, `++` and `+=` are statements or nothing, never values. A cast changes nothing: every value of a
//! test is a number that it copies, compares and computes with.

use fencepost_ir::{BinOp, Span, UnOp};

use super::super::super::tokens::{Tok, Token};
use super::super::super::wrong::Wrong;
use super::super::ast::{Expression, ExpressionKind};
use super::{DEEPEST, Reader, too_deep};

/// Words that begin a type, beside those that end in `_t`.
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

/// Whether a word begins a type.
pub(super) fn is_type(word: &str) -> bool {
    TYPES.contains(&word) || word.ends_with("_t")
}

/// How tightly `||` binds; what binds tighter has a higher number.
const LOOSEST: u8 = 1;

/// How tightly an operator binds, and what it does.
fn operator(kind: Tok) -> Option<(u8, BinOp)> {
    Some(match kind {
        Tok::OrOr => (LOOSEST, BinOp::Or),
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

/// An expression, if it does not nest too deep.
fn node(kind: ExpressionKind, span: Span) -> Result<Expression, Wrong> {
    let height = 1 + kind.parts().iter().map(|part| part.height).max().unwrap_or(0);
    if height > DEEPEST { Err(too_deep(span)) } else { Ok(Expression { kind, span, height }) }
}

impl Reader<'_, '_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Result<Expression, Wrong> {
        let first = self.tokens.peek().span;
        self.deeper(first)?;
        let mut found = self.binary(LOOSEST)?;
        if self.tokens.eat(Tok::Question) {
            let then = Box::new(self.expression()?);
            self.tokens.expect(Tok::Colon, "`:`")?;
            let otherwise = Box::new(self.expression()?);
            let span = first.to(self.tokens.last());
            found = node(ExpressionKind::Select(Box::new(found), then, otherwise), span)?;
        }
        self.depth -= 1;
        Ok(found)
    }

    /// Operators that bind at least this tightly.
    fn binary(&mut self, least: u8) -> Result<Expression, Wrong> {
        let mut left = self.unary()?;
        loop {
            let token = self.tokens.peek();
            let Some((binds, op)) = operator(token.kind) else { return Ok(left) };
            if binds < least {
                return Ok(left);
            }
            self.check_step(token)?;
            self.tokens.take();
            let right = self.binary(binds + 1)?;
            let span = left.span.to(right.span);
            left = node(ExpressionKind::Binary(op, Box::new(left), Box::new(right)), span)?;
        }
    }

    /// Refuses `++`, `--`, `+=` and the like.
    fn check_step(&mut self, token: Token) -> Result<(), Wrong> {
        let next = self.tokens.ahead(1);
        let doubled = next == token.kind && matches!(next, Tok::Plus | Tok::Minus);
        if doubled || next == Tok::Eq {
            let text = format!("{0}{1}", self.tokens.word(), self.tokens.word_ahead(1));
            return Err(Wrong::unsupported(token.span, format!("`{text}` is not supported"))
                .hint("write `r = r + 1`"));
        }
        Ok(())
    }

    fn unary(&mut self) -> Result<Expression, Wrong> {
        let token = self.tokens.peek();
        self.deeper(token.span)?;
        let prefix = matches!(
            token.kind,
            Tok::Bang | Tok::Minus | Tok::Plus | Tok::Tilde | Tok::Star | Tok::Amp
        );
        let found = if prefix {
            self.check_step(token)?;
            self.tokens.take();
            let operand = self.unary()?;
            let span = token.span.to(operand.span);
            let operand = Box::new(operand);
            match token.kind {
                Tok::Bang => node(ExpressionKind::Unary(UnOp::Not, operand), span)?,
                Tok::Minus => node(ExpressionKind::Unary(UnOp::Neg, operand), span)?,
                Tok::Tilde => node(ExpressionKind::Unary(UnOp::BitNot, operand), span)?,
                Tok::Star => node(ExpressionKind::Target(operand), span)?,
                Tok::Amp => node(ExpressionKind::Address(operand), span)?,
                _ => *operand,
            }
        } else if self.at_cast() {
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

    /// Whether `(int)`, `(int *)` or the like comes next.
    fn at_cast(&self) -> bool {
        if self.tokens.kind() != Tok::LParen || !is_type(self.tokens.word_ahead(1)) {
            return false;
        }
        let mut at = 1;
        while self.tokens.ahead(at) == Tok::Name {
            at += 1;
        }
        while self.tokens.ahead(at) == Tok::Star {
            at += 1;
        }
        self.tokens.ahead(at) == Tok::RParen
    }

    fn primary(&mut self) -> Result<Expression, Wrong> {
        let token = self.tokens.peek();
        match token.kind {
            Tok::Number => {
                let value = self.tokens.number("a number")?;
                node(ExpressionKind::Number(value), token.span)
            }
            Tok::LParen => {
                self.tokens.take();
                let inner = self.expression()?;
                self.tokens.expect(Tok::RParen, "`)`")?;
                Ok(Expression { span: token.span.to(self.tokens.last()), ..inner })
            }
            Tok::Name => {
                let name = self.tokens.name("a name")?.to_string();
                if self.tokens.eat(Tok::LParen) {
                    return self.call(name, token.span);
                }
                if self.tokens.eat(Tok::LBracket) {
                    let index = Box::new(self.expression()?);
                    self.tokens.expect(Tok::RBracket, "`]`")?;
                    let span = token.span.to(self.tokens.last());
                    return node(ExpressionKind::Element(name, index), span);
                }
                if name == "NULL" {
                    return node(ExpressionKind::Number(0), token.span);
                }
                node(ExpressionKind::Name(name), token.span)
            }
            _ => Err(self.tokens.unexpected("a value")),
        }
    }

    /// A call, from behind its opening parenthesis on.
    fn call(&mut self, name: String, first: Span) -> Result<Expression, Wrong> {
        let mut arguments = Vec::new();
        while self.tokens.kind() != Tok::RParen {
            arguments.push(self.expression()?);
            if !self.tokens.eat(Tok::Comma) {
                break;
            }
        }
        self.tokens.expect(Tok::RParen, "`)` after the arguments")?;
        node(ExpressionKind::Call(name, arguments), first.to(self.tokens.last()))
    }
}
