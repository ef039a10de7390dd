//! Declarations and functions at file scope, and how parsing resumes after an error.

use std::ops::Range;

use fencepost_ir::Span;

use super::scopes::Meaning;
use super::specifiers::Position;
use super::{ParseResult, Parser, SyntaxError};
use crate::c::ast::{
    Block, Declaration, Declarator, Derivation, FunctionDefinition, InitDeclarator, Item, Name,
    Specifiers, Storage,
};
use crate::c::codes;
use crate::c::source_map::FileKind;
use crate::c::tokens::Tok;

/// An item and the tokens that it consists of.
#[derive(Clone, Debug)]
pub(super) struct ParsedItem {
    pub(super) item: Item,
    pub(super) tokens: Range<usize>,
}

impl Parser<'_> {
    pub(super) fn items(&mut self) -> Vec<ParsedItem> {
        let mut items = Vec::new();
        while self.peek() != Tok::End {
            let before = self.at;
            match self.item() {
                Ok(item) => {
                    let tokens = before..self.at;
                    items.extend(item.map(|item| ParsedItem { item, tokens }));
                }
                Err(SyntaxError) => {
                    self.scopes.close_to(1);
                    self.skip_item(before);
                }
            }
        }
        items
    }

    /// Resumes after an error in an item that began at token `begin`: skips to its `;` or `}`.
    fn skip_item(&mut self, begin: usize) {
        let mut depth = 0_i32;
        for token in self.tokens.get(begin..self.at).unwrap_or_default() {
            match token.kind {
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth -= 1,
                _ => {}
            }
        }
        if self.at == begin {
            depth += i32::from(self.peek() == Tok::LBrace);
            self.advance();
        }
        // The error can be after the end of the item: a missing `;`.
        let ended = self.tokens.get(self.at.saturating_sub(1)).is_some_and(|token| {
            matches!(token.kind, Tok::Semi | Tok::RBrace) && self.token().first
        });
        while !(ended && depth <= 0) {
            let ends_line = self.ends_line();
            match self.peek() {
                Tok::End => return,
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth -= 1,
                _ => {}
            }
            let token = self.advance();
            let ends_item = match token.kind {
                Tok::Semi => true,
                // `} name;` after the fields of a `struct`.
                Tok::RBrace | Tok::Unknown => ends_line || self.eat(Tok::Semi),
                _ => false,
            };
            if ends_item && depth <= 0 {
                return;
            }
        }
    }

    fn item(&mut self) -> ParseResult<Option<Item>> {
        while self.eat(Tok::Extension) {}
        match self.peek() {
            Tok::Semi => {
                self.advance();
                return Ok(None);
            }
            Tok::StaticAssert => {
                let start = self.span();
                let condition = self.static_assert()?;
                return Ok(Some(Item::StaticAssert { condition, span: start.to(self.previous()) }));
            }
            Tok::Asm => {
                let span = self.span();
                self.error(codes::NOT_SUPPORTED, span, "assembly outside of functions")
                    .hint("write the function in C");
                return Err(SyntaxError);
            }
            Tok::RBrace => {
                let span = self.advance().span;
                self.error(codes::SYNTAX, span, "this `}` closes nothing")
                    .hint("remove it, or look for a missing `{` before it");
                return Ok(None);
            }
            _ => {}
        }
        let start = self.span();
        let specifiers = self.specifiers(Position::Declaration)?;
        if self.eat(Tok::Semi) {
            let span = start.to(self.previous());
            return Ok(Some(Item::Declaration(Declaration {
                specifiers,
                declarators: Vec::new(),
                span,
            })));
        }
        let declarator = self.named_declarator()?;
        if self.peek() == Tok::LBrace {
            return self.function(specifiers, declarator, start).map(Some);
        }
        self.declaration_rest(specifiers, Some(declarator), start)
            .map(|declaration| Some(Item::Declaration(declaration)))
    }

    fn function(
        &mut self,
        specifiers: Specifiers,
        declarator: Declarator,
        start: Span,
    ) -> ParseResult<Item> {
        let Some(Derivation::Function(parameters)) = declarator.derivations.first() else {
            let error = self.expected("`;`");
            return Err(error);
        };
        if let Some(name) = &declarator.name {
            self.scopes.declare(&name.text, Meaning::Value);
            if self.is_unused_function_of_ours(name) {
                let body = self.skip_block();
                let span = start.to(body.close);
                return Ok(Item::Function(FunctionDefinition {
                    specifiers,
                    declarator,
                    body,
                    span,
                }));
            }
            self.function = name.text.as_str().into();
        }
        self.scopes.open();
        for parameter in &parameters.list {
            if let Some(name) = &parameter.declarator.name {
                self.scopes.declare(&name.text, Meaning::Value);
            }
        }
        let body = self.block()?;
        self.scopes.close();
        self.function = "".into();
        let span = start.to(body.close);
        Ok(Item::Function(FunctionDefinition { specifiers, declarator, body, span }))
    }

    /// Whether a function belongs to our headers and its name occurs nowhere else.
    /// [`overrides`](super::overrides) drops such a function, so its body need not be parsed.
    fn is_unused_function_of_ours(&self, name: &Name) -> bool {
        let symbol = self.spellings.find(&name.text);
        symbol.is_some_and(|symbol| self.occurrences[symbol.index()] == 1)
            && self.map.file(name.span).is_some_and(|file| file.kind == FileKind::BuiltIn)
    }

    /// Skips a block of our headers, in which braces match.
    fn skip_block(&mut self) -> Block {
        let open = self.span();
        let mut depth = 0;
        loop {
            let token = self.advance();
            match token.kind {
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth -= 1,
                _ => {}
            }
            if depth == 0 || token.kind == Tok::End {
                return Block { items: Vec::new(), open, close: token.span };
            }
        }
    }

    /// Parses a declaration with its `;`.
    pub(super) fn declaration(&mut self) -> ParseResult<Declaration> {
        let start = self.span();
        let specifiers = self.specifiers(Position::Declaration)?;
        if self.eat(Tok::Semi) {
            let span = start.to(self.previous());
            return Ok(Declaration { specifiers, declarators: Vec::new(), span });
        }
        self.declaration_rest(specifiers, None, start)
    }

    /// Parses the declarators and the `;`. The first declarator may be parsed already.
    fn declaration_rest(
        &mut self,
        specifiers: Specifiers,
        mut first: Option<Declarator>,
        start: Span,
    ) -> ParseResult<Declaration> {
        let mut declarators = Vec::new();
        loop {
            let declarator = match first.take() {
                Some(first) => first,
                None => self.named_declarator()?,
            };
            let meaning = match specifiers.storage {
                Storage::Typedef => Meaning::Type,
                Storage::None | Storage::Static | Storage::Extern => Meaning::Value,
            };
            if let Some(name) = &declarator.name {
                self.scopes.declare(&name.text, meaning);
            }
            let initializer = if self.eat(Tok::Assign) { Some(self.initializer()?) } else { None };
            declarators.push(InitDeclarator { declarator, initializer });
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        if self.peek() == Tok::LBrace && self.scopes.depth() > 1 {
            let span = self.span();
            self.error(codes::NOT_SUPPORTED, span, "a function inside a function")
                .label("expected `;`")
                .hint("move the function out, or add the `}` that is missing before it");
            return Err(SyntaxError);
        }
        self.expect(Tok::Semi, "`;`")?;
        let span = start.to(self.previous());
        Ok(Declaration { specifiers, declarators, span })
    }
}
