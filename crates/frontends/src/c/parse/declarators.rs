//! Declarators: a name and how its type is derived, with pointers, arrays and parameters.

use super::scopes::Meaning;
use super::specifiers::Position;
use super::{ParseResult, Parser, SyntaxError};
use crate::c::ast::{Declarator, Derivation, Name, Parameter, Parameters, Qualifiers};
use crate::c::codes;
use crate::c::tokens::Tok;

/// Whether a declarator has a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Naming {
    Required,
    /// In a parameter.
    Optional,
    /// In a type name.
    Forbidden,
}

impl Parser<'_> {
    /// Parses a declarator with a name, and the attributes after it.
    pub(super) fn named_declarator(&mut self) -> ParseResult<Declarator> {
        self.declarator(Naming::Required)
    }

    /// Parses a declarator without a name.
    pub(super) fn abstract_declarator(&mut self) -> ParseResult<Declarator> {
        self.declarator(Naming::Forbidden)
    }

    fn declarator(&mut self, naming: Naming) -> ParseResult<Declarator> {
        let start = self.span();
        let mut attributes = self.attributes()?;
        let (name, derivations) = self.nested(|parser| parser.derivations(naming))?;
        let span = if self.at == 0 || self.previous().start < start.start {
            start
        } else {
            start.to(self.previous())
        };
        // `int x asm("name")`: the name for the linker has no effect.
        if naming == Naming::Required && self.peek() == Tok::Asm {
            self.advance();
            self.expect(Tok::LParen, "`(`")?;
            self.string_literal()?;
            self.expect(Tok::RParen, "`)`")?;
        }
        attributes.add(self.attributes()?);
        Ok(Declarator { name, derivations, alignment: attributes.alignment, span })
    }

    /// Parses the name and the derivations, from the name outwards.
    fn derivations(&mut self, naming: Naming) -> ParseResult<(Option<Name>, Vec<Derivation>)> {
        let mut pointers = Vec::new();
        while self.eat(Tok::Star) {
            pointers.push(Derivation::Pointer(self.pointer_qualifiers()?));
        }
        let (name, mut derivations) = match self.peek() {
            Tok::Name if naming != Naming::Forbidden => (Some(self.name()?), Vec::new()),
            Tok::LParen if naming == Naming::Required || self.groups() => {
                self.advance();
                self.attributes()?;
                let inner = self.nested(|parser| parser.derivations(naming))?;
                self.expect(Tok::RParen, "`)`")?;
                inner
            }
            _ if naming == Naming::Required => return Err(self.expected("a name")),
            _ => (None, Vec::new()),
        };
        loop {
            match self.peek() {
                Tok::LBracket => derivations.push(self.array()?),
                Tok::LParen => {
                    self.advance();
                    derivations.push(Derivation::Function(self.nested(Self::parameters)?));
                }
                _ => break,
            }
        }
        derivations.extend(pointers.into_iter().rev());
        if derivations.len() > super::MAX_NESTING as usize {
            return Err(self.too_deep());
        }
        Ok((name, derivations))
    }

    /// Returns whether the current `(` of an optional or abstract declarator groups a part of it,
    /// and does not begin parameters.
    fn groups(&self) -> bool {
        match self.peek_at(1) {
            Tok::Star | Tok::LParen | Tok::LBracket => true,
            Tok::Name => !self.is_type_at(1),
            Tok::Attribute => true,
            _ => false,
        }
    }

    fn pointer_qualifiers(&mut self) -> ParseResult<Qualifiers> {
        let mut qualifiers = Qualifiers::default();
        loop {
            match self.peek() {
                Tok::Const | Tok::Restrict => {}
                Tok::Volatile => qualifiers.volatile = true,
                Tok::Atomic => qualifiers.atomic = true,
                Tok::Attribute => {
                    self.attributes()?;
                    continue;
                }
                _ => return Ok(qualifiers),
            }
            self.advance();
        }
    }

    fn array(&mut self) -> ParseResult<Derivation> {
        self.expect(Tok::LBracket, "`[`")?;
        // `[static const 3]` of a parameter.
        while matches!(self.peek(), Tok::Static | Tok::Const | Tok::Restrict | Tok::Volatile) {
            self.advance();
        }
        if self.peek() == Tok::Star && self.peek_at(1) == Tok::RBracket {
            self.advance();
        }
        let size = match self.peek() {
            Tok::RBracket => None,
            _ => Some(Box::new(self.assignment()?)),
        };
        self.expect(Tok::RBracket, "`]`")?;
        Ok(Derivation::Array(size))
    }

    /// Parses parameters after the `(`.
    fn parameters(&mut self) -> ParseResult<Parameters> {
        if self.eat(Tok::RParen) {
            return Ok(Parameters { list: Vec::new(), variadic: true });
        }
        if self.peek() == Tok::Void && self.peek_at(1) == Tok::RParen {
            self.advance();
            self.advance();
            return Ok(Parameters::default());
        }
        self.refuse_names_only()?;
        self.scopes.open();
        let mut parameters = Parameters::default();
        loop {
            if self.eat(Tok::Ellipsis) {
                parameters.variadic = true;
                break;
            }
            parameters.list.push(self.parameter()?);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.scopes.close();
        self.expect(Tok::RParen, "`)`")?;
        Ok(parameters)
    }

    /// Reports the parameters of an old-style definition: `f(a, b) int a, b; { ... }`.
    fn refuse_names_only(&mut self) -> ParseResult<()> {
        let rest = self.tokens.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|t| !matches!(t.kind, Tok::Name | Tok::Comma));
        let length = length.unwrap_or(rest.len());
        let names_only = rest[..length].iter().enumerate().all(|(at, token)| {
            (token.kind == Tok::Comma) == (at % 2 == 1)
                && self.meaning(*token) != Some(Meaning::Type)
        });
        let is_definition =
            self.peek_at(length) == Tok::RParen && self.is_type_at(length + 1) && length > 0;
        if !names_only || !is_definition {
            return Ok(());
        }
        let span = self.span();
        self.at += length;
        while !matches!(self.peek(), Tok::LBrace | Tok::End) {
            self.advance();
        }
        self.error(codes::NOT_SUPPORTED, span, "old-style parameters are not supported")
            .label("the type is missing")
            .hint("write the types in the parentheses: `int f(int x) { ... }`");
        Err(SyntaxError)
    }

    fn parameter(&mut self) -> ParseResult<Parameter> {
        let specifiers = self.specifiers(Position::Type)?;
        let declarator = self.declarator(Naming::Optional)?;
        if let Some(name) = &declarator.name {
            self.scopes.declare(&name.text, Meaning::Value);
        }
        Ok(Parameter { specifiers, declarator })
    }
}
