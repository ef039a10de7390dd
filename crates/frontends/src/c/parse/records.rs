//! `struct`, `union` and `enum`.

use super::attributes::Attributes;
use super::scopes::Meaning;
use super::specifiers::Position;
use super::{ParseResult, Parser};
use crate::c::ast::{Declarator, EnumSpecifier, Expr, FieldDeclaration, Name, RecordSpecifier};
use crate::c::tokens::Tok;

impl Parser<'_> {
    fn tag(&mut self) -> ParseResult<Option<Name>> {
        if self.peek() == Tok::Name { self.name().map(Some) } else { Ok(None) }
    }

    /// Parses `struct` or `union`.
    pub(super) fn record(&mut self) -> ParseResult<RecordSpecifier> {
        let keyword = self.advance();
        let mut attributes = self.attributes()?;
        let tag = self.tag()?;
        let mut fields = None;
        if self.eat(Tok::LBrace) {
            let mut list = Vec::new();
            while !self.eat(Tok::RBrace) {
                match self.peek() {
                    Tok::Semi => {
                        self.advance();
                    }
                    Tok::StaticAssert => {
                        self.static_assert()?;
                    }
                    Tok::End => return Err(self.expected("`}`")),
                    _ => list.push(self.field()?),
                }
            }
            fields = Some(list);
            attributes.add(self.attributes()?);
        } else if tag.is_none() {
            return Err(self.expected("a name or `{`"));
        }
        let Attributes { packed, alignment } = attributes;
        let is_union = keyword.kind == Tok::Union;
        let span = keyword.span.to(self.previous());
        Ok(RecordSpecifier { is_union, tag, fields, packed, alignment, span })
    }

    fn field(&mut self) -> ParseResult<FieldDeclaration> {
        let start = self.span();
        let specifiers = self.specifiers(Position::Type)?;
        let mut declarators = Vec::new();
        if self.peek() != Tok::Semi {
            loop {
                declarators.push(self.field_declarator()?);
                if !self.eat(Tok::Comma) {
                    break;
                }
            }
        }
        self.expect(Tok::Semi, "`;`")?;
        Ok(FieldDeclaration { specifiers, declarators, span: start.to(self.previous()) })
    }

    fn field_declarator(&mut self) -> ParseResult<(Declarator, Option<Expr>)> {
        let mut declarator = if self.peek() == Tok::Colon {
            let span = self.span();
            Declarator { name: None, derivations: Vec::new(), alignment: None, span }
        } else {
            self.named_declarator()?
        };
        let width = if self.eat(Tok::Colon) { Some(self.conditional()?) } else { None };
        let attributes = self.attributes()?;
        declarator.alignment = attributes.alignment.or(declarator.alignment);
        Ok((declarator, width))
    }

    /// Parses `enum`.
    pub(super) fn enumeration(&mut self) -> ParseResult<EnumSpecifier> {
        let keyword = self.advance();
        self.attributes()?;
        let tag = self.tag()?;
        let mut constants = None;
        if self.eat(Tok::LBrace) {
            let mut list = Vec::new();
            while !self.eat(Tok::RBrace) {
                let name = self.name()?;
                self.attributes()?;
                let value = if self.eat(Tok::Assign) { Some(self.conditional()?) } else { None };
                self.scopes.declare(&name.text, Meaning::Value);
                list.push((name, value));
                if !self.eat(Tok::Comma) && self.peek() != Tok::RBrace {
                    return Err(self.expected("`,` or `}`"));
                }
            }
            constants = Some(list);
            self.attributes()?;
        } else if tag.is_none() {
            return Err(self.expected("a name or `{`"));
        }
        Ok(EnumSpecifier { tag, constants, span: keyword.span.to(self.previous()) })
    }
}
