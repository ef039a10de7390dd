//! Parsing of memory orders: `x.load(acquire)`, `x.store(1, Ordering::Release)`,
//! `fence memory_order_seq_cst;`.

use super::{ParseResult, Parser, TrailingComma};
use crate::fp::ast::{Expr, ExprKind, Name};
use crate::fp::lexer::Tok;

impl Parser<'_> {
    /// Parses the arguments of `base.method(`, after the parenthesis.
    pub(super) fn method(&mut self, base: Expr, method: Name) -> ParseResult<Expr> {
        let args =
            self.comma_separated(Tok::RParen, TrailingComma::Forbidden, Self::method_argument)?;
        let span = base.span.to(self.previous());
        self.node(ExprKind::Method(Box::new(base), method, args), span)
    }

    /// Parses an argument of a method: an expression, or an order with a path.
    fn method_argument(&mut self) -> ParseResult<Expr> {
        let colon = |at: usize| self.tokens.get(at).is_some_and(|t| t.kind == Tok::Colon);
        if self.peek() == Tok::Name && colon(self.at + 1) && colon(self.at + 2) {
            let order = self.order_name()?;
            return self.node(ExprKind::Name(order.text), order.span);
        }
        self.expr()
    }

    /// Parses `NAME { "::" NAME }`.
    pub(super) fn order_name(&mut self) -> ParseResult<Name> {
        let mut order = self.name()?;
        while self.peek() == Tok::Colon && self.peek_second() == Tok::Colon {
            self.advance();
            self.advance();
            let part = self.name()?;
            order.text = format!("{}::{}", order.text, part.text);
            order.span = order.span.to(part.span);
        }
        Ok(order)
    }
}
