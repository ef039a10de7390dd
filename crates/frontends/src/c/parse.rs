//! The parser: recursive descent over the preprocessed tokens, one function for each rule.
//!
//! After a syntax error the parser skips to the end of the statement or declaration, so that one
//! run reports several errors. Nesting is limited to [`MAX_NESTING`] and the height of expressions
//! to [`MAX_HEIGHT`], because all passes over the tree are recursive.
//!
//! - [`items`]: declarations and functions at file scope, and recovery between them.
//! - [`specifiers`], [`records`], [`declarators`], [`initializers`], [`attributes`]: declarations.
//! - [`statements`], [`asm`]: statements.
//! - [`expressions`], [`postfix`], [`primary`]: expressions.
//! - [`scopes`]: which names are types.
//! - [`foreign`]: hints for C++ and other usual mistakes.
//! - [`overrides`]: definitions of the user that replace ours.
//!
//! Unlike elsewhere in this project, matches on tokens have a `_` arm: any token can occur
//! anywhere, and an unexpected token is a syntax error.

mod asm;
mod attributes;
mod declarators;
mod expressions;
mod foreign;
mod initializers;
mod items;
pub mod overrides;
mod postfix;
mod primary;
mod records;
mod scopes;
mod specifiers;
mod statements;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use fencepost_ir::{Diagnostic, Diagnostics, Span};

use super::ast::{Name, Unit};
use super::codes;
use super::preprocess::{MAX_ERRORS, PreprocessOptions, Preprocessed, preprocess};
use super::source_map::SourceMap;
use super::spellings::{Spelling, Spellings};
use super::tokens::{Tok, Token};
use scopes::Scopes;

/// The nesting limit of statements, declarators and parentheses.
pub const MAX_NESTING: u32 = 200;

/// The height limit of the tree of one expression. `a + b + c` is a tree of height 3.
pub const MAX_HEIGHT: u32 = 300;

/// Preprocesses and parses a file. The tree leaves out parts with errors, and declarations of our
/// headers that the program does not use. Diagnostics have positions in the main file.
///
/// ```
/// use fencepost_frontends::c::{PreprocessOptions, parse_unit};
/// use fencepost_ir::Diagnostics;
/// let mut diagnostics = Diagnostics::new();
/// let text = "#define N 2\nint x = N; int main(void) { return x; }";
/// let (map, unit) = parse_unit("a.c", text, &PreprocessOptions::default(), &mut diagnostics);
/// assert!(diagnostics.is_empty());
/// assert_eq!(unit.items.len(), 2);
/// assert_eq!(map.files()[0].name, "a.c");
/// ```
pub fn parse_unit(
    main_name: &str,
    text: &str,
    options: &PreprocessOptions<'_>,
    diagnostics: &mut Diagnostics,
) -> (SourceMap, Unit) {
    let Preprocessed { map, tokens, spellings, diagnostics: found, partial } =
        preprocess(main_name, text, options);
    if partial {
        map.report(&found, diagnostics);
        return (map, Unit::default());
    }
    let mut parser = Parser::new(&map, &tokens, &spellings, found);
    let items = parser.items();
    let found = parser.diagnostics;
    map.report(&found, diagnostics);
    let items = overrides::resolve(&map, items, &tokens, &spellings);
    (map, Unit { items })
}

/// A syntax error that is already reported. Lists of statements and items resume after it.
#[derive(Clone, Copy, Debug)]
struct SyntaxError;

type ParseResult<T> = Result<T, SyntaxError>;

struct Parser<'a> {
    map: &'a SourceMap,
    tokens: &'a [Token],
    spellings: &'a Spellings,
    at: usize,
    diagnostics: Diagnostics,
    /// Errors after the file was abandoned. They are not reported.
    discarded: Diagnostics,
    /// Whether the parser skips the rest of the file.
    abandoned: bool,
    nesting: u32,
    /// The height of the last expression, and of the highest tree since the start of the current
    /// block.
    height: u32,
    tallest: u32,
    scopes: Scopes,
    /// The name of the current function, for `__func__`.
    function: Rc<str>,
    /// How often each spelling occurs.
    occurrences: Vec<u32>,
}

impl<'a> Parser<'a> {
    fn new(
        map: &'a SourceMap,
        tokens: &'a [Token],
        spellings: &'a Spellings,
        diagnostics: Diagnostics,
    ) -> Self {
        let mut occurrences = vec![0; spellings.count()];
        for token in tokens {
            occurrences[token.text.index()] += 1;
        }
        Parser {
            map,
            tokens,
            spellings,
            at: 0,
            diagnostics,
            discarded: Diagnostics::new(),
            abandoned: false,
            nesting: 0,
            height: 0,
            tallest: 0,
            scopes: Scopes::default(),
            function: "".into(),
            occurrences,
        }
    }

    fn token(&self) -> Token {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> Tok {
        self.token().kind
    }

    /// Returns the kind of the token after the next `ahead` tokens.
    fn peek_at(&self, ahead: usize) -> Tok {
        self.tokens.get(self.at + ahead).map_or(Tok::End, |token| token.kind)
    }

    fn span(&self) -> Span {
        self.token().span
    }

    fn text(&self, token: Token) -> Spelling {
        self.spellings.text(token.text)
    }

    /// Returns the span of the last consumed token.
    fn previous(&self) -> Span {
        let at = self.at.saturating_sub(1).min(self.tokens.len() - 1);
        self.tokens[at].span
    }

    fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != Tok::End {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, kind: Tok) -> bool {
        let found = self.peek() == kind;
        if found {
            self.advance();
        }
        found
    }

    /// Reports an error, unless the file is abandoned.
    fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        if !self.abandoned && self.diagnostics.len() >= MAX_ERRORS {
            self.diagnostics
                .error(codes::TOO_MANY_ERRORS, span, format!("more than {MAX_ERRORS} errors"))
                .hint("fix the first errors; others may be their consequences");
            self.abandon();
        }
        if self.abandoned {
            self.discarded = Diagnostics::new();
            return self.discarded.error(code, span, message);
        }
        self.diagnostics.error(code, span, message)
    }

    /// Skips to the end of the file. No more errors are reported.
    fn abandon(&mut self) {
        self.abandoned = true;
        self.at = self.tokens.len() - 1;
    }

    fn expect(&mut self, kind: Tok, what: &str) -> ParseResult<Span> {
        if self.peek() == kind {
            return Ok(self.advance().span);
        }
        Err(self.expected(what))
    }

    /// Reports that the current token is not the expected one.
    fn expected(&mut self, what: &str) -> SyntaxError {
        let found = self.token();
        if let Some(error) = self.foreign_error() {
            return error;
        }
        if found.kind == Tok::Unknown {
            return self.unknown_character(found);
        }
        let message = format!("expected {what}, found {}", self.describe(found));
        // A missing `;`, `)` or `]` is reported at the end of the previous token.
        let missing = ["`;`", "`)`", "`]`"].contains(&what) && self.at > 0;
        let (span, label) = if missing {
            (self.end_of_previous(), format!("{what} is missing after this"))
        } else {
            (found.span, format!("expected {what}"))
        };
        self.error(codes::SYNTAX, span, message).label(label);
        SyntaxError
    }

    fn unknown_character(&mut self, found: Token) -> SyntaxError {
        let text: String = self.text(found).chars().take(20).collect();
        let text = text.replace(char::is_control, " ");
        let text = text.trim_end();
        let hint = match text.chars().next() {
            Some('\'' | '"') => "close the character or string on the same line",
            Some(c) if !c.is_ascii() => "use only ASCII letters, digits and `_` in names",
            Some(_) | None => "remove this text, or put it into a comment: `/* ... */`",
        };
        self.error(codes::UNKNOWN_CHARACTER, found.span, format!("unexpected text `{text}`"))
            .label("not part of C")
            .hint(hint);
        SyntaxError
    }

    /// Returns the span of the last character of the last consumed token, which is on one line
    /// unless the token comes from a macro.
    fn end_of_previous(&self) -> Span {
        let token = self.previous();
        let text = self.map.text(token);
        let last = text.chars().next_back().map_or(0, char::len_utf8);
        if text.contains('\n') || last == 0 {
            return token;
        }
        let column = token.column + (text.chars().count() - 1) as u32;
        Span { start: token.end - last as u32, column, ..token }
    }

    fn describe(&self, token: Token) -> String {
        if token.kind == Tok::End {
            return "the end of the file".into();
        }
        let text: String = self.text(token).chars().take(40).collect();
        format!("`{text}`")
    }

    fn name(&mut self) -> ParseResult<Name> {
        if self.peek() != Tok::Name {
            return Err(self.expected("a name"));
        }
        let token = self.advance();
        Ok(Name { text: self.text(token).to_string(), span: token.span })
    }

    /// Runs `parse` one nesting level deeper. Reports an error at the nesting limit.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if self.nesting >= MAX_NESTING {
            return Err(self.too_deep());
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    fn too_deep(&mut self) -> SyntaxError {
        let span = self.span();
        self.error(codes::TOO_DEEP, span, "the code is nested too deeply")
            .label(format!("more than {MAX_NESTING} levels"))
            .hint("move inner statements to functions, or parts of an expression to variables");
        self.abandon();
        SyntaxError
    }

    /// Parses the rest of a list in parentheses: elements with commas, then `)`.
    fn list_in_parentheses<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let mut all = Vec::new();
        if self.eat(Tok::RParen) {
            return Ok(all);
        }
        loop {
            all.push(one(self)?);
            if !self.eat(Tok::Comma) {
                self.expect(Tok::RParen, "`)`")?;
                return Ok(all);
            }
        }
    }

    /// Skips a balanced text in parentheses. The current token is `(`.
    fn skip_parentheses(&mut self) -> ParseResult<()> {
        let mut depth = 0_u32;
        loop {
            match self.peek() {
                Tok::LParen => depth += 1,
                Tok::RParen => depth -= 1,
                Tok::End => return Err(self.expected("`)`")),
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return Ok(());
            }
        }
    }
}
