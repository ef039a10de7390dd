//! The lexer. One set of tokens serves the initial state, programs in all languages, and
//! conditions.
//!
//! The syntax of comments depends on the section of the file. [`super::sections`] therefore
//! replaces comments by spaces before the lexer runs.

use fencepost_ir::Span;
use logos::Logos;

use super::error::{Errors, LitmusError};
use crate::lexing::LineColumns;

/// The kind of a token.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\f]+")]
#[expect(missing_docs, reason = "each is the token its text shows")]
pub enum Tok {
    #[regex("[A-Za-z_][A-Za-z0-9_.]*")]
    Name,
    #[regex("[0-9][0-9A-Za-z_]*")]
    Number,
    #[regex("\"[^\"\n]*\"")]
    Text,
    #[token("/\\")]
    And,
    #[token("\\/")]
    Or,
    #[token("=>")]
    Implies,
    #[token("==")]
    EqEq,
    #[token("=")]
    Eq,
    #[token("!=")]
    NotEq,
    #[token("<>")]
    LtGt,
    #[token("<<")]
    Shl,
    #[token(">>")]
    Shr,
    #[token("<=")]
    Le,
    #[token(">=")]
    Ge,
    #[token("<")]
    Lt,
    #[token(">")]
    Gt,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token(",")]
    Comma,
    #[token(";")]
    Semi,
    #[token(":")]
    Colon,
    #[token("?")]
    Question,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("|")]
    Bar,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("&")]
    Amp,
    #[token("^")]
    Caret,
    #[token("~")]
    Tilde,
    #[token("!")]
    Bang,
    #[token("$")]
    Dollar,
    #[token("%")]
    Percent,
    #[token("#")]
    Hash,
    #[token("@")]
    At,
    #[token("\\")]
    Backslash,
    /// An invalid character. The lexer reports it.
    Unknown,
    /// The end of the section.
    End,
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// The kind of the token.
    pub kind: Tok,
    /// The span of the token.
    pub span: Span,
}

/// The offsets at which lines start. Converts byte offsets to lines and columns.
#[derive(Clone, Debug)]
pub struct Lines<'s> {
    source: &'s str,
    starts: Vec<usize>,
}

impl<'s> Lines<'s> {
    /// Computes the line starts of a text.
    pub fn new(source: &'s str) -> Self {
        let ends = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Lines { source, starts }
    }

    /// Returns the span of the bytes `start..end`.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let line = self.starts.partition_point(|first| *first <= start);
        let before = self.source.get(self.starts[line - 1]..start).unwrap_or("");
        Span {
            start: start as u32,
            end: end as u32,
            line: line as u32,
            column: before.chars().count() as u32 + 1,
        }
    }
}

/// The tokens of one section of a file, and the position of the next token.
#[derive(Clone, Debug)]
pub struct Tokens<'s> {
    source: &'s str,
    list: Vec<Token>,
    at: usize,
}

impl<'s> Tokens<'s> {
    /// Tokenizes `clean[start..end]`, where `clean` is `source` with comments replaced by spaces.
    /// Reports each invalid character and represents it by [`Tok::Unknown`].
    pub fn new(
        source: &'s str,
        clean: &str,
        lines: &Lines<'_>,
        start: usize,
        end: usize,
        errors: &mut Errors,
    ) -> Self {
        let mut list = Vec::new();
        let mut lexer = Tok::lexer(&clean[start..end]);
        let mut positions = LineColumns::after(source, lines.span(start, start));
        while let Some(token) = lexer.next() {
            let (first, end) = (start + lexer.span().start, start + lexer.span().end);
            let span = positions.span(first, end);
            let kind = token.unwrap_or_else(|()| {
                errors.push(LitmusError::syntax(
                    span,
                    "this character is not valid in a litmus test",
                ));
                Tok::Unknown
            });
            list.push(Token { kind, span });
        }
        list.push(Token { kind: Tok::End, span: lines.span(end, end) });
        Tokens { source, list, at: 0 }
    }

    /// Returns the next token.
    pub fn peek(&self) -> Token {
        self.list[self.at]
    }

    /// Returns the kind of the next token.
    pub fn kind(&self) -> Tok {
        self.peek().kind
    }

    /// Returns the kind of the token at distance `ahead`; 0 is the next token.
    pub fn kind_at(&self, ahead: usize) -> Tok {
        self.list.get(self.at + ahead).map_or(Tok::End, |token| token.kind)
    }

    /// Returns the span of the token that comes `ahead` tokens after the next one.
    pub fn span_at(&self, ahead: usize) -> Span {
        self.list.get(self.at + ahead).map_or_else(|| self.last_span(), |token| token.span)
    }

    /// Returns the span of the token that was taken last.
    pub fn last_span(&self) -> Span {
        self.list[self.at.saturating_sub(1)].span
    }

    /// Returns the text of a token.
    pub fn text(&self, token: Token) -> &'s str {
        token.span.text(self.source)
    }

    /// Returns the text of the next token.
    pub fn word(&self) -> &'s str {
        self.text(self.peek())
    }

    /// Returns the text of the token at distance `ahead`; 0 is the next token.
    pub fn word_at(&self, ahead: usize) -> &'s str {
        self.list.get(self.at + ahead).map_or("", |token| self.text(*token))
    }

    /// Takes the next token. Does not advance past [`Tok::End`].
    pub fn take(&mut self) -> Token {
        let token = self.peek();
        if token.kind != Tok::End {
            self.at += 1;
        }
        token
    }

    /// Recovers from a syntax error. Skips tokens up to the first token outside of brackets for
    /// which `ends` holds, or up to the end. Counts only the given kind of bracket.
    pub fn skip_to(&mut self, (open, close): (Tok, Tok), ends: impl Fn(&Self) -> bool) {
        let mut depth = 0u32;
        while self.kind() != Tok::End && !(depth == 0 && ends(self)) {
            let kind = self.take().kind;
            if kind == open {
                depth += 1;
            } else if kind == close {
                depth = depth.saturating_sub(1);
            }
        }
    }

    /// Takes the next token if it has this kind. Returns whether it does.
    pub fn eat(&mut self, kind: Tok) -> bool {
        let found = self.kind() == kind;
        if found {
            self.take();
        }
        found
    }

    /// Takes the next token if it is this word. Returns whether it is.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.kind() == Tok::Name && self.word() == word;
        if found {
            self.take();
        }
        found
    }

    /// Takes the next token if it has this kind, and fails otherwise. `what` describes the token.
    pub fn expect(&mut self, kind: Tok, what: &str) -> Result<Token, LitmusError> {
        if self.kind() == kind { Ok(self.take()) } else { Err(self.unexpected(what)) }
    }

    /// Creates the error that `what` was expected instead of the next token.
    pub fn unexpected(&self, what: &str) -> LitmusError {
        let token = self.peek();
        let found = match token.kind {
            Tok::End => "the end of this section".to_string(),
            _ => format!("`{}`", self.text(token)),
        };
        LitmusError::syntax(token.span, format!("expected {what}, found {found}"))
    }

    /// Takes a name.
    pub fn name(&mut self, what: &str) -> Result<&'s str, LitmusError> {
        let token = self.expect(Tok::Name, what)?;
        Ok(self.text(token))
    }

    /// Takes a number with an optional minus sign.
    pub fn number(&mut self, what: &str) -> Result<i128, LitmusError> {
        let negative = self.eat(Tok::Minus);
        let token = self.expect(Tok::Number, what)?;
        let value = number(self.text(token)).ok_or_else(|| {
            LitmusError::syntax(
                token.span,
                "invalid number: write a decimal or `0x` number of at most 64 bits",
            )
        })?;
        Ok(if negative { -value } else { value })
    }

    /// Takes a number that fits into a `u32`. `what` is a noun such as `index`.
    pub fn count(&mut self, what: &str) -> Result<u32, LitmusError> {
        let span = self.peek().span;
        let value = self.number(what)?;
        u32::try_from(value)
            .map_err(|_| LitmusError::too_large(span, format!("{value} is not a valid {what}")))
    }

    /// Returns whether a number, with or without a minus sign, comes next.
    pub fn is_number(&self) -> bool {
        self.kind() == Tok::Number || (self.kind() == Tok::Minus && self.kind_at(1) == Tok::Number)
    }
}

/// Parses an unsigned number of at most 64 bits: decimal or `0x...`, with optional C suffixes.
fn number(text: &str) -> Option<i128> {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => text.parse().ok()?,
    };
    Some(i128::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_at_most_64_bits() {
        assert_eq!(number("12"), Some(12));
        assert_eq!(number("0xffffffffffffffff"), Some(i128::from(u64::MAX)));
        assert_eq!(number("3UL"), Some(3));
        for invalid in ["18446744073709551616", "0x", "1a", "0x1_0"] {
            assert_eq!(number(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn spans_have_line_and_column() {
        let lines = Lines::new("a\nbc\n");
        assert_eq!((lines.span(3, 4).line, lines.span(3, 4).column), (2, 2));
        assert_eq!((lines.span(5, 5).line, lines.span(5, 5).column), (3, 1));
    }
}
