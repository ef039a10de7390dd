//! Initialisers, with designators.

use super::{ParseResult, Parser};
use crate::c::ast::{Designator, Initializer, InitializerItem};
use crate::c::tokens::Tok;

impl Parser<'_> {
    pub(super) fn initializer(&mut self) -> ParseResult<Initializer> {
        if self.peek() != Tok::LBrace {
            return Ok(Initializer::Expr(self.assignment()?));
        }
        let start = self.span();
        let items = self.nested(Self::initializer_list)?;
        Ok(Initializer::List(items, start.to(self.previous())))
    }

    /// Parses a list in braces.
    pub(super) fn initializer_list(&mut self) -> ParseResult<Vec<InitializerItem>> {
        self.expect(Tok::LBrace, "`{`")?;
        let mut items = Vec::new();
        while !self.eat(Tok::RBrace) {
            let designators = self.designators()?;
            let value = self.initializer()?;
            items.push(InitializerItem { designators, value });
            if !self.eat(Tok::Comma) && self.peek() != Tok::RBrace {
                return Err(self.expected("`,` or `}`"));
            }
        }
        Ok(items)
    }

    /// Parses designators with their `=`.
    fn designators(&mut self) -> ParseResult<Vec<Designator>> {
        // The old GNU form `field: value`.
        if self.peek() == Tok::Name && self.peek_at(1) == Tok::Colon {
            let name = self.name()?;
            self.advance();
            return Ok(vec![Designator::Field(name)]);
        }
        let designators = self.designator_path()?;
        // GNU allows `[index] value`.
        let is_index =
            matches!(designators.last(), Some(Designator::Index(_) | Designator::Range(..)));
        if !designators.is_empty() && !self.eat(Tok::Assign) && !is_index {
            return Err(self.expected("`=`"));
        }
        Ok(designators)
    }

    /// Parses `.field`, `[index]` and `[first ... last]`, any number of them.
    pub(super) fn designator_path(&mut self) -> ParseResult<Vec<Designator>> {
        let mut designators = Vec::new();
        loop {
            if self.eat(Tok::Dot) {
                designators.push(Designator::Field(self.name()?));
            } else if self.eat(Tok::LBracket) {
                let first = self.conditional()?;
                let designator = if self.eat(Tok::Ellipsis) {
                    Designator::Range(first, self.conditional()?)
                } else {
                    Designator::Index(first)
                };
                self.expect(Tok::RBracket, "`]`")?;
                designators.push(designator);
            } else {
                return Ok(designators);
            }
        }
    }
}
