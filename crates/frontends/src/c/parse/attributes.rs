//! `__attribute__((...))`: `packed` and `aligned` are kept, all others have no effect.

use super::{ParseResult, Parser};
use crate::c::ast::{Expr, ExprKind};
use crate::c::tokens::Tok;

/// The attributes with an effect.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes {
    pub(super) packed: bool,
    pub(super) alignment: Option<Box<Expr>>,
}

/// The alignment of `aligned` without a number.
const MAX_ALIGNMENT: u64 = 16;

impl Attributes {
    /// Adds other attributes.
    pub(super) fn add(&mut self, other: Attributes) {
        self.packed |= other.packed;
        self.alignment = other.alignment.or(self.alignment.take());
    }
}

impl Parser<'_> {
    /// Parses any number of attributes.
    pub(super) fn attributes(&mut self) -> ParseResult<Attributes> {
        let mut attributes = Attributes::default();
        while self.eat(Tok::Attribute) {
            self.expect(Tok::LParen, "`(`")?;
            self.expect(Tok::LParen, "`(`")?;
            while self.peek() != Tok::RParen {
                if !self.eat(Tok::Comma) {
                    self.attribute(&mut attributes)?;
                }
            }
            self.expect(Tok::RParen, "`)`")?;
            self.expect(Tok::RParen, "`)`")?;
        }
        Ok(attributes)
    }

    fn attribute(&mut self, attributes: &mut Attributes) -> ParseResult<()> {
        let token = self.token();
        if !token.kind.is_word() {
            return Err(self.expected("an attribute"));
        }
        self.advance();
        match &*self.text(token) {
            "packed" | "__packed__" => attributes.packed = true,
            "aligned" | "__aligned__" if self.eat(Tok::LParen) => {
                attributes.alignment = Some(Box::new(self.alignment()?));
                self.expect(Tok::RParen, "`)`")?;
            }
            "aligned" | "__aligned__" => {
                let kind = ExprKind::Integer { value: MAX_ALIGNMENT, bits: 32, signed: true };
                attributes.alignment =
                    Some(Box::new(Expr { kind, span: token.span, origin: None }));
            }
            _ if self.peek() == Tok::LParen => self.skip_parentheses()?,
            _ => {}
        }
        Ok(())
    }

    /// Parses the operand of `_Alignas` or `aligned`: a type or a number.
    pub(super) fn alignment(&mut self) -> ParseResult<Expr> {
        if self.begins_type() {
            let ty = Box::new(self.type_name()?);
            let span = ty.span;
            return Ok(Expr { kind: ExprKind::AlignofType(ty), span, origin: None });
        }
        self.conditional()
    }
}
