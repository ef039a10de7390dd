//! Parsing of items, the top-level parts of a file.

use fencepost_ir::Quantifier;

use super::{ParseResult, Parser, SyntaxError, TrailingComma};
use crate::fp::ast::{
    Attribute, AttributeKind, Client, Declarator, Expr, Field, Initial, Item, ItemKind, Name,
    Procedure, Thread,
};
use crate::fp::codes;
use crate::fp::lexer::Tok;
use crate::fp::suggest::did_you_mean;

impl Parser<'_> {
    pub(super) fn item(&mut self) -> ParseResult<Item> {
        let start = self.span();
        let keyword = self.peek();
        if !keyword.begins_item() {
            let hint = if let Some(hint) = self.item_hint() {
                hint
            } else if self.looks_like_a_procedure() {
                "write `proc` before the return type to declare a procedure"
            } else if matches!(keyword, Tok::Int | Tok::Bool) {
                "write `shared` before the type to declare a location"
            } else {
                "put statements into a `thread`, `proc`, `init` or `finally` block"
            };
            return Err(self.expected_hint("a declaration", Some(hint.into())));
        }
        self.advance();
        let (kind, closed) = match keyword {
            Tok::Const => {
                let name = self.name()?;
                self.expect(Tok::Assign)?;
                (ItemKind::Const(name, self.expr()?), false)
            }
            Tok::Enum => {
                let name = self.name()?;
                self.expect(Tok::LBrace)?;
                (
                    ItemKind::Enum(
                        name,
                        self.comma_separated(Tok::RBrace, TrailingComma::Optional, Self::name)?,
                    ),
                    true,
                )
            }
            Tok::Record => {
                let name = self.name()?;
                (ItemKind::Record(name, self.fields()?), true)
            }
            Tok::Pool => {
                let name = self.name()?;
                self.expect(Tok::LBracket)?;
                let cells = self.expr()?;
                self.expect(Tok::RBracket)?;
                (ItemKind::Pool(name, cells), false)
            }
            Tok::Shared => {
                let ty = self.type_name()?;
                let mut vars = vec![self.declarator()?];
                while self.eat(Tok::Comma) {
                    vars.push(self.declarator()?);
                }
                (ItemKind::Shared(ty, vars), false)
            }
            Tok::Init => (ItemKind::Init(self.block()?), true),
            Tok::Finally => (ItemKind::Finally(self.block()?), true),
            Tok::Proc => (ItemKind::Procedure(self.procedure(false)?), true),
            Tok::Operation => (ItemKind::Procedure(self.procedure(true)?), true),
            Tok::Client => (ItemKind::Client(self.client()?), false),
            Tok::Thread => (ItemKind::Thread(self.thread()?), true),
            Tok::Property => {
                let name = self.name()?;
                if self.peek() == Tok::Operation {
                    let hint = format!("write `property {} operations;`", name.text);
                    let error = self.expected_hint("`operations`", Some(hint));
                    self.advance();
                    return Err(error);
                }
                let of = if self.peek() == Tok::Name { Some(self.name()?) } else { None };
                (ItemKind::Property(name, of), false)
            }
            Tok::Final => {
                let word = self.name()?;
                let quantifier = match word.text.as_str() {
                    "exists" => Quantifier::Exists,
                    "forall" => Quantifier::Forall,
                    "never" => Quantifier::Never,
                    other => {
                        let message =
                            format!("expected `exists`, `forall` or `never`, found `{other}`");
                        self.error(codes::SYNTAX, word.span, message)
                            .label("expected `exists`, `forall` or `never`")
                            .hint(
                                "write `final forall COND;` if COND must hold in every final state",
                            );
                        return Err(SyntaxError);
                    }
                };
                (ItemKind::Final(quantifier, self.expr()?), false)
            }
            Tok::Invariant => (ItemKind::Invariant(self.expr()?), false),
            // `begins_item` holds, so the keyword is `observe`.
            _ => {
                let mut what = vec![self.expr()?];
                while self.eat(Tok::Comma) {
                    what.push(self.expr()?);
                }
                (ItemKind::Observe(what), false)
            }
        };
        let span = start.to(self.previous());
        if !closed {
            self.expect(Tok::Semi)?;
        }
        Ok(Item { kind, span })
    }

    /// Returns whether the next tokens look like a C function: `int f(`.
    fn looks_like_a_procedure(&self) -> bool {
        let kinds = self.tokens[self.at..].iter().map(|t| t.kind).take(3);
        let [ty, Tok::Name, Tok::LParen] = kinds.collect::<Vec<_>>()[..] else {
            return false;
        };
        matches!(ty, Tok::Int | Tok::Bool | Tok::Void | Tok::Name)
    }

    fn fields(&mut self) -> ParseResult<Vec<Field>> {
        self.expect(Tok::LBrace)?;
        let mut fields = Vec::new();
        while !self.eat(Tok::RBrace) {
            let ty = self.type_name()?;
            let name = self.name()?;
            let dims = self.dimensions()?;
            self.expect(Tok::Semi)?;
            fields.push(Field { ty, name, dims });
        }
        Ok(fields)
    }

    fn dimensions(&mut self) -> ParseResult<Vec<Expr>> {
        let mut dims = Vec::new();
        while self.eat(Tok::LBracket) {
            dims.push(self.expr()?);
            self.expect(Tok::RBracket)?;
        }
        Ok(dims)
    }

    pub(super) fn declarator(&mut self) -> ParseResult<Declarator> {
        let name = self.name()?;
        let dims = self.dimensions()?;
        let init = if self.eat(Tok::Assign) { Some(self.initial()?) } else { None };
        Ok(Declarator { name, dims, init })
    }

    fn initial(&mut self) -> ParseResult<Initial> {
        if self.peek() != Tok::LBrace {
            return Ok(Initial::One(self.expr()?));
        }
        let open = self.advance().span;
        let list = self.nested(|parser| {
            parser.comma_separated(Tok::RBrace, TrailingComma::Optional, Self::initial)
        })?;
        Ok(Initial::List(list, open.to(self.previous())))
    }

    fn procedure(&mut self, operation: bool) -> ParseResult<Procedure> {
        let returns = if self.eat(Tok::Void) { None } else { Some(self.type_name()?) };
        let name = self.name()?;
        self.expect(Tok::LParen)?;
        let param = |p: &mut Self| Ok((p.type_name()?, p.name()?));
        let params = self.comma_separated(Tok::RParen, TrailingComma::Forbidden, param)?;
        let letter = if operation {
            self.expect(Tok::As)?;
            Some(self.letters()?)
        } else {
            None
        };
        let mut attributes = Vec::new();
        while operation && self.eat(Tok::Comma) {
            attributes.push(self.attribute()?);
        }
        Ok(Procedure { returns, name, params, letter, attributes, body: self.block()? })
    }

    /// Parses `owner`, `repeats` or `aborts E`. These words are keywords only here.
    fn attribute(&mut self) -> ParseResult<Attribute> {
        let name = self.name()?;
        let kind = match name.text.as_str() {
            "owner" => AttributeKind::Owner,
            "repeats" => AttributeKind::Repeats,
            "aborts" => AttributeKind::Aborts(self.expr()?),
            other => {
                let near =
                    did_you_mean(other, ["owner", "repeats", "aborts"], self.diagnostics.len());
                let all = "the attributes are `owner`, `repeats` and `aborts VALUE`";
                let message = format!("there is no operation attribute `{other}`");
                self.error(codes::UNKNOWN_WORD, name.span, message)
                    .label("unknown attribute")
                    .hint(near.unwrap_or(all.into()));
                return Err(SyntaxError);
            }
        };
        Ok(Attribute { kind, span: name.span })
    }

    fn thread(&mut self) -> ParseResult<Thread> {
        let name = self.name()?;
        let param = if self.eat(Tok::LParen) {
            let param = self.name()?;
            self.expect(Tok::In)?;
            let range = self.range()?;
            self.expect(Tok::RParen)?;
            Some((param, range))
        } else {
            None
        };
        Ok(Thread { name, param, body: self.block()? })
    }

    /// Parses the text of a client, such as `e(ed|d)` or `(e|e)dd`.
    pub(super) fn client(&mut self) -> ParseResult<Client> {
        let first = if self.peek() == Tok::LParen { None } else { Some(self.letters()?) };
        let parens = self.eat(Tok::LParen);
        let mut threads = Vec::new();
        let first = if parens {
            threads.push(self.letters()?);
            first
        } else {
            threads.extend(first);
            None
        };
        while self.eat(Tok::Or) {
            threads.push(self.letters()?);
        }
        let mut last = None;
        if parens {
            self.expect(Tok::RParen)?;
            if self.at_letters() {
                last = Some(self.letters()?);
            }
        }
        Ok(Client { first, parens, threads, last })
    }

    /// Returns whether the next token is a word, which can consist of operation letters.
    fn at_letters(&self) -> bool {
        let is_alphabetic = |c: char| c.is_ascii_alphabetic();
        match self.peek() {
            Tok::Name => true,
            Tok::End => false,
            _ => self.span().text(self.source).starts_with(is_alphabetic),
        }
    }

    /// Parses one or more words of operation letters. A keyword counts as its letters:
    /// `client do|if;`.
    fn letters(&mut self) -> ParseResult<Name> {
        let start = self.span();
        let mut text = String::new();
        while self.at_letters() {
            let span = self.advance().span;
            // Pad with spaces, so that offsets in the text equal offsets in the source.
            let at = (span.start - start.start) as usize;
            text.push_str(&" ".repeat(at - text.len()));
            text.push_str(span.text(self.source));
        }
        if text.is_empty() {
            return Err(self.expected("the letter of an operation"));
        }
        Ok(Name { text, span: start.to(self.previous()) })
    }
}
