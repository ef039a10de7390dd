//! Postfix operators: calls, indices, members, `++` and `--`, and compound literals.

use fencepost_ir::Span;

use super::{ParseResult, Parser};
use crate::c::ast::{Expr, ExprKind, TypeName};
use crate::c::tokens::Tok;

impl Parser<'_> {
    pub(super) fn postfix(&mut self) -> ParseResult<Expr> {
        let base = self.primary()?;
        self.postfix_operators(base)
    }

    /// Parses the operators after an expression.
    pub(super) fn postfix_operators(&mut self, mut base: Expr) -> ParseResult<Expr> {
        loop {
            let token = self.token();
            let start = base.span;
            let mut height = self.height;
            let kind = match token.kind {
                Tok::LBracket => {
                    self.advance();
                    let index = Box::new(self.expression()?);
                    height = height.max(self.height);
                    self.expect(Tok::RBracket, "`]`")?;
                    ExprKind::Index { base: Box::new(base), index }
                }
                Tok::LParen => {
                    self.advance();
                    let arguments = self.list_in_parentheses(|parser| {
                        let argument = parser.assignment()?;
                        height = height.max(parser.height);
                        Ok(argument)
                    })?;
                    ExprKind::Call { function: Box::new(base), arguments }
                }
                Tok::Dot | Tok::Arrow => {
                    self.advance();
                    let field = self.name()?;
                    let arrow = token.kind == Tok::Arrow;
                    ExprKind::Member { base: Box::new(base), arrow, field }
                }
                Tok::PlusPlus | Tok::MinusMinus => {
                    self.advance();
                    let increment = token.kind == Tok::PlusPlus;
                    ExprKind::Step { increment, prefix: false, operand: Box::new(base) }
                }
                _ => return Ok(base),
            };
            self.set_height(height + 1)?;
            base = Expr { kind, span: start.to(self.previous()), origin: None };
        }
    }

    /// Parses the braces of `(type){ ... }`. `start` is the position of the `(`.
    pub(super) fn compound(&mut self, ty: Box<TypeName>, start: Span) -> ParseResult<Expr> {
        let outer = std::mem::take(&mut self.tallest);
        let initializer = self.nested(Self::initializer_list)?;
        let height = self.tallest + 1;
        self.tallest = outer;
        self.set_height(height)?;
        let span = start.to(self.previous());
        Ok(Expr { kind: ExprKind::Compound { ty, initializer }, span, origin: None })
    }
}
