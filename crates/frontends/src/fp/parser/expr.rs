//! Parsing of expressions, by precedence climbing.

use std::num::IntErrorKind;

use fencepost_ir::{BinOp, UnOp};

use super::{ParseResult, Parser, TrailingComma, keyword_hint};
use crate::fp::ast::{Expr, ExprKind, Range};
use crate::fp::codes;
use crate::fp::lexer::Tok;

/// Returns the binary operator of a token and its precedence. A larger precedence binds tighter.
fn binary(tok: Tok) -> Option<(BinOp, u8)> {
    Some(match tok {
        Tok::OrOr => (BinOp::Or, 1),
        Tok::AndAnd => (BinOp::And, 2),
        Tok::Or => (BinOp::BitOr, 3),
        Tok::Caret => (BinOp::BitXor, 4),
        Tok::And => (BinOp::BitAnd, 5),
        Tok::EqEq => (BinOp::Eq, 6),
        Tok::NotEq => (BinOp::Ne, 6),
        Tok::Lt => (BinOp::Lt, 7),
        Tok::Le => (BinOp::Le, 7),
        Tok::Gt => (BinOp::Gt, 7),
        Tok::Ge => (BinOp::Ge, 7),
        Tok::Shl => (BinOp::Shl, 8),
        Tok::Shr => (BinOp::Shr, 8),
        Tok::Plus => (BinOp::Add, 9),
        Tok::Minus => (BinOp::Sub, 9),
        Tok::Star => (BinOp::Mul, 10),
        Tok::Slash => (BinOp::Div, 10),
        Tok::Percent => (BinOp::Rem, 10),
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> ParseResult<Expr> {
        self.nested(Self::select)
    }

    fn select(&mut self) -> ParseResult<Expr> {
        let cond = self.binary(1)?;
        if !self.eat(Tok::Question) {
            return Ok(cond);
        }
        let then = self.expr()?;
        self.expect(Tok::Colon)?;
        let otherwise = self.expr()?;
        let span = cond.span.to(otherwise.span);
        self.node(ExprKind::Select(Box::new(cond), Box::new(then), Box::new(otherwise)), span)
    }

    fn binary(&mut self, min_precedence: u8) -> ParseResult<Expr> {
        let mut left = self.unary()?;
        while let Some((op, binds)) =
            binary(self.peek()).filter(|(_, binds)| *binds >= min_precedence)
        {
            self.advance();
            let right = self.binary(binds + 1)?;
            let span = left.span.to(right.span);
            left = self.node(ExprKind::Binary(op, Box::new(left), Box::new(right)), span)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> ParseResult<Expr> {
        let op = match self.peek() {
            Tok::Not => UnOp::Not,
            Tok::Minus => UnOp::Neg,
            Tok::Tilde => UnOp::BitNot,
            _ => return self.postfix(),
        };
        let start = self.advance().span;
        let operand = self.nested(Self::unary)?;
        let span = start.to(operand.span);
        self.node(ExprKind::Unary(op, Box::new(operand)), span)
    }

    /// Parses a primary expression with its indices and fields. Statements can begin with one, too.
    pub(super) fn postfix(&mut self) -> ParseResult<Expr> {
        let mut expr = self.primary()?;
        loop {
            match self.peek() {
                Tok::LBracket => {
                    self.advance();
                    let index = self.expr()?;
                    let close = self.expect(Tok::RBracket)?;
                    let span = expr.span.to(close);
                    expr = self.node(ExprKind::Index(Box::new(expr), Box::new(index)), span)?;
                }
                Tok::Dot => {
                    self.advance();
                    let field = self.name()?;
                    if self.eat(Tok::LParen) {
                        expr = self.method(expr, field)?;
                        continue;
                    }
                    let span = expr.span.to(field.span);
                    expr = self.node(ExprKind::Field(Box::new(expr), field), span)?;
                }
                Tok::Name if self.is_word_before("at", Tok::Name) => return self.at_label(expr),
                _ => return Ok(expr),
            }
        }
    }

    /// Parses the rest of `p at A`. The word `at` is a keyword only here. This is a function of its
    /// own because nested expressions need small stack frames.
    #[inline(never)]
    fn at_label(&mut self, thread: Expr) -> ParseResult<Expr> {
        self.advance();
        let label = self.name()?;
        let span = thread.span.to(label.span);
        self.node(ExprKind::At(Box::new(thread), label), span)
    }

    fn primary(&mut self) -> ParseResult<Expr> {
        let start = self.span();
        match self.peek() {
            Tok::Number => {
                let kind = self.number();
                self.node(kind, start)
            }
            Tok::True | Tok::False => {
                let value = self.advance().kind == Tok::True;
                self.node(ExprKind::Bool(value), start)
            }
            Tok::Null => {
                self.advance();
                self.node(ExprKind::Null, start)
            }
            Tok::LParen => {
                self.advance();
                let inner = self.expr()?;
                let close = self.expect(Tok::RParen)?;
                self.node(ExprKind::Paren(Box::new(inner)), start.to(close))
            }
            Tok::New => {
                self.advance();
                let record = self.name()?;
                let span = start.to(record.span);
                self.node(ExprKind::New(record), span)
            }
            Tok::Name => {
                let name = self.name()?;
                if !self.eat(Tok::LParen) {
                    return self.node(ExprKind::Name(name.text), name.span);
                }
                let kind = if name.text == "choose" {
                    self.choose()?
                } else {
                    ExprKind::Call(
                        name,
                        self.comma_separated(Tok::RParen, TrailingComma::Forbidden, Self::expr)?,
                    )
                };
                let span = start.to(self.previous());
                self.node(kind, span)
            }
            found => {
                let hint = keyword_hint(found).filter(|_| found.begins_call());
                Err(self.expected_hint("an expression", hint))
            }
        }
    }

    /// Parses the rest of an expression after `choose(`.
    fn choose(&mut self) -> ParseResult<ExprKind> {
        if self.peek() == Tok::RParen {
            return Err(self.expected("a range or a list of values"));
        }
        let first = self.expr()?;
        if matches!(self.peek(), Tok::DotDot | Tok::DotDotEq) {
            let inclusive = self.advance().kind == Tok::DotDotEq;
            let hi = Box::new(self.expr()?);
            self.expect(Tok::RParen)?;
            return Ok(ExprKind::ChooseRange(Range { lo: Box::new(first), inclusive, hi }));
        }
        let mut list = vec![first];
        while self.eat(Tok::Comma) {
            list.push(self.expr()?);
        }
        self.expect(Tok::RParen)?;
        Ok(ExprKind::ChooseList(list))
    }

    /// Parses a number. After an error the number becomes an unparsed name, so that it causes no
    /// further errors.
    fn number(&mut self) -> ExprKind {
        let span = self.advance().span;
        let text = span.text(self.source);
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let value = match digits {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => text.parse::<u64>(),
        };
        match value {
            Ok(value) => return ExprKind::Number(value),
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => {
                self.error(codes::BAD_NUMBER, span, "this number does not fit in 64 bits".into())
                    .label("too large")
                    .hint("use a number up to 18446744073709551615");
            }
            Err(_) => {
                self.error(codes::BAD_NUMBER, span, format!("`{text}` is not a number"))
                    .hint("write numbers as `42` or `0x2a`; begin names with a letter");
            }
        }
        self.unparsed_names.get_or_insert_default().insert(text.to_string());
        ExprKind::Name(text.to_string())
    }
}
