//! Declaration specifiers: storage classes, types and qualifiers.

use fencepost_ir::Span;

use super::attributes::Attributes;
use super::scopes::Meaning;
use super::{ParseResult, Parser, SyntaxError};
use crate::c::ast::{Name, Qualifiers, Specifiers, Storage, TypeName, TypeSpecifier};
use crate::c::codes;
use crate::c::tokens::{Tok, Token};

/// Where specifiers are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Position {
    /// In a declaration, where a storage class is allowed.
    Declaration,
    /// In a parameter, a field or a type name.
    Type,
}

/// The words of a basic type, counted.
#[derive(Clone, Copy, Debug, Default)]
struct Words {
    void: u8,
    bool: u8,
    char: u8,
    short: u8,
    int: u8,
    long: u8,
    signed: u8,
    unsigned: u8,
    /// `float`, `double`, `_Complex`, `__int128`.
    unsupported: u8,
}

impl Parser<'_> {
    /// Returns whether the current token begins declaration specifiers.
    pub(super) fn begins_specifier(&self) -> bool {
        match self.peek() {
            Tok::Typedef
            | Tok::Static
            | Tok::Extern
            | Tok::Register
            | Tok::Auto
            | Tok::Inline
            | Tok::Noreturn
            | Tok::ThreadLocal
            | Tok::Alignas => true,
            _ => self.begins_type(),
        }
    }

    /// Returns whether the current token begins a type name.
    pub(super) fn begins_type(&self) -> bool {
        self.is_type_at(0)
    }

    /// Returns whether the token after the next `ahead` tokens begins a type name.
    pub(super) fn is_type_at(&self, ahead: usize) -> bool {
        match self.peek_at(ahead) {
            Tok::Void
            | Tok::Bool
            | Tok::Char8
            | Tok::Short
            | Tok::Int
            | Tok::Long
            | Tok::Signed
            | Tok::Unsigned
            | Tok::Float
            | Tok::Double
            | Tok::FloatN
            | Tok::Complex
            | Tok::Int128
            | Tok::Struct
            | Tok::Union
            | Tok::Enum
            | Tok::Atomic
            | Tok::Typeof
            | Tok::AutoType
            | Tok::Const
            | Tok::Volatile
            | Tok::Restrict
            | Tok::Attribute => true,
            Tok::Extension => self.is_type_at(ahead + 1),
            Tok::Name => {
                let token = self.tokens.get(self.at + ahead);
                token.is_some_and(|token| self.meaning(*token) == Some(Meaning::Type))
            }
            _ => false,
        }
    }

    pub(super) fn meaning(&self, token: Token) -> Option<Meaning> {
        self.scopes.meaning(&self.text(token))
    }

    /// Parses declaration specifiers.
    pub(super) fn specifiers(&mut self, position: Position) -> ParseResult<Specifiers> {
        let start = self.span();
        let mut storage = Storage::None;
        let mut thread_local = false;
        let mut qualifiers = Qualifiers::default();
        let mut attributes = Attributes::default();
        let mut words = Words::default();
        let mut spelled: Vec<String> = Vec::new();
        let mut ty: Option<TypeSpecifier> = None;
        loop {
            let token = self.token();
            let has_type = ty.is_some() || !spelled.is_empty();
            let mut word = |count: fn(&mut Words) -> &mut u8| {
                *count(&mut words) += 1;
            };
            match token.kind {
                Tok::Typedef | Tok::Static | Tok::Extern
                    if position == Position::Declaration || token.kind == Tok::Static =>
                {
                    storage = match token.kind {
                        Tok::Typedef => Storage::Typedef,
                        Tok::Static => Storage::Static,
                        _ => Storage::Extern,
                    };
                }
                Tok::Register | Tok::Auto | Tok::Inline | Tok::Noreturn | Tok::Extension => {}
                Tok::ThreadLocal => thread_local = true,
                Tok::Const | Tok::Restrict => {}
                Tok::Volatile => qualifiers.volatile = true,
                Tok::Attribute => {
                    attributes.add(self.attributes()?);
                    continue;
                }
                Tok::Alignas => {
                    self.advance();
                    self.expect(Tok::LParen, "`(`")?;
                    let alignment = Some(Box::new(self.alignment()?));
                    self.expect(Tok::RParen, "`)`")?;
                    attributes.add(Attributes { packed: false, alignment });
                    continue;
                }
                Tok::Atomic if self.peek_at(1) != Tok::LParen => qualifiers.atomic = true,
                Tok::Void => word(|words| &mut words.void),
                Tok::Bool => word(|words| &mut words.bool),
                Tok::Char8 => word(|words| &mut words.char),
                Tok::Short => word(|words| &mut words.short),
                Tok::Int => word(|words| &mut words.int),
                Tok::Long => word(|words| &mut words.long),
                Tok::Signed => word(|words| &mut words.signed),
                Tok::Unsigned => word(|words| &mut words.unsigned),
                Tok::Float | Tok::Double | Tok::FloatN | Tok::Complex | Tok::Int128 => {
                    word(|words| &mut words.unsupported);
                }
                Tok::Atomic
                | Tok::Typeof
                | Tok::AutoType
                | Tok::Struct
                | Tok::Union
                | Tok::Enum => {
                    if has_type {
                        return Err(self.two_types(token));
                    }
                    ty = Some(self.nested(Self::composed_type)?);
                    continue;
                }
                Tok::Name if !has_type && self.is_type_name(token, position)? => {
                    let text = self.text(token).to_string();
                    ty = Some(TypeSpecifier::Named(Name { text, span: token.span }));
                }
                _ => break,
            }
            if is_basic(token.kind) {
                if ty.is_some() {
                    return Err(self.two_types(token));
                }
                spelled.push(self.text(token).to_string());
            }
            self.advance();
        }
        let span = start.to(self.previous());
        let ty = match ty {
            Some(ty) => ty,
            None if spelled.is_empty() => return Err(self.no_type(start)),
            None => match words.specifier(&spelled) {
                Some(ty) => ty,
                None => {
                    let message = format!("`{}` is not a type", spelled.join(" "));
                    self.error(codes::SPECIFIERS, span, message);
                    return Err(SyntaxError);
                }
            },
        };
        let alignment = attributes.alignment;
        Ok(Specifiers { storage, thread_local, ty, qualifiers, alignment, span })
    }

    /// Returns whether a name is the type of a declaration. Reports a name that can only be a type
    /// but is not known.
    fn is_type_name(&mut self, token: Token, position: Position) -> ParseResult<bool> {
        match self.meaning(token) {
            Some(Meaning::Type) => return Ok(true),
            Some(Meaning::Value) => return Ok(false),
            None => {}
        }
        let is_type = match self.peek_at(1) {
            Tok::Name => true,
            Tok::Star => match position {
                Position::Declaration => matches!(self.peek_at(2), Tok::Name | Tok::Star),
                Position::Type => true,
            },
            Tok::Comma | Tok::RParen => position == Position::Type,
            _ => false,
        };
        if is_type {
            self.unknown_type(token)?;
        }
        Ok(is_type)
    }

    fn two_types(&mut self, token: Token) -> SyntaxError {
        let text = self.describe(token);
        self.error(codes::SPECIFIERS, token.span, format!("a second type: {text}"))
            .label("there is already a type before this")
            .hint("a `;` is probably missing before this");
        SyntaxError
    }

    fn no_type(&mut self, start: Span) -> SyntaxError {
        let previous = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        if previous.is_some_and(|token| token.kind == Tok::Auto) {
            return self.cplusplus(self.token(), "`auto` without a type", "write the type");
        }
        // `static x = 1;`
        if self.previous().start >= start.start && self.peek() == Tok::Name && self.at > 0 {
            let token = self.token();
            if self.previous().end > start.start && self.previous().start != token.span.start {
                let text = self.describe(token);
                self.error(codes::SYNTAX, token.span, format!("the type of {text} is missing"))
                    .label("expected a type")
                    .hint("write the type before the name, for example `int`");
                return SyntaxError;
            }
        }
        self.expected("a declaration")
    }

    /// Parses `struct`, `union`, `enum`, `typeof`, `_Atomic(type)` or `__auto_type`.
    fn composed_type(&mut self) -> ParseResult<TypeSpecifier> {
        match self.peek() {
            Tok::Struct | Tok::Union => Ok(TypeSpecifier::Record(self.record()?)),
            Tok::Enum => Ok(TypeSpecifier::Enum(self.enumeration()?)),
            Tok::AutoType => {
                self.advance();
                Ok(TypeSpecifier::Auto)
            }
            Tok::Atomic => {
                self.advance();
                self.expect(Tok::LParen, "`(`")?;
                let ty = Box::new(self.type_name()?);
                self.expect(Tok::RParen, "`)`")?;
                Ok(TypeSpecifier::Atomic(ty))
            }
            _ => {
                self.expect(Tok::Typeof, "a type")?;
                self.expect(Tok::LParen, "`(`")?;
                let ty = if self.begins_type() {
                    TypeSpecifier::TypeofType(Box::new(self.type_name()?))
                } else {
                    TypeSpecifier::TypeofExpr(Box::new(self.expression()?))
                };
                self.expect(Tok::RParen, "`)`")?;
                Ok(ty)
            }
        }
    }

    /// Parses a type name, as in a cast.
    pub(super) fn type_name(&mut self) -> ParseResult<TypeName> {
        self.nested(|parser| {
            let start = parser.span();
            let specifiers = parser.specifiers(Position::Type)?;
            let declarator = parser.abstract_declarator()?;
            let span = start.to(parser.previous());
            Ok(TypeName { specifiers, declarator, span })
        })
    }
}

fn is_basic(kind: Tok) -> bool {
    matches!(
        kind,
        Tok::Void
            | Tok::Bool
            | Tok::Char8
            | Tok::Short
            | Tok::Int
            | Tok::Long
            | Tok::Signed
            | Tok::Unsigned
            | Tok::Float
            | Tok::Double
            | Tok::FloatN
            | Tok::Complex
            | Tok::Int128
    )
}

impl Words {
    /// Returns the type that the words mean.
    fn specifier(self, spelled: &[String]) -> Option<TypeSpecifier> {
        let Words { void, bool, char, short, int, long, signed, unsigned, unsupported } = self;
        if unsupported > 0 {
            return Some(TypeSpecifier::Unsupported(spelled.join(" ")));
        }
        let integers = char + short + int + long + signed + unsigned;
        let integer = |bits| Some(TypeSpecifier::Int { bits, signed: unsigned == 0 });
        match (void, bool) {
            (1, 0) if integers == 0 => return Some(TypeSpecifier::Void),
            (0, 1) if integers == 0 => return Some(TypeSpecifier::Bool),
            (0, 0) if signed + unsigned <= 1 && int <= 1 => {}
            _ => return None,
        }
        match (char, short, long) {
            (1, 0, 0) if int == 0 => integer(8),
            (0, 1, 0) => integer(16),
            (0, 0, 0) => integer(32),
            (0, 0, 1 | 2) => integer(64),
            _ => None,
        }
    }
}
