//! From text to tokens: one set for the initial state, programs of all kinds and conditions.
//!
//! What a litmus file calls a comment depends on where it stands, so comments are blanked out before
//! ([`super::sections`]) and do not occur here.

use fencepost_ir::Span;
use logos::Logos;

use super::wrong::{Errors, Wrong};

/// What kind of token it is.
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
    /// What is no part of a litmus test; said when it is met first.
    Unknown,
    /// After the last token.
    End,
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: Tok,
    /// Where it is.
    pub span: Span,
}

/// Where lines begin, to turn offsets into positions.
#[derive(Clone, Debug)]
pub struct Lines<'s> {
    source: &'s str,
    starts: Vec<usize>,
}

impl<'s> Lines<'s> {
    /// Those of a text.
    pub fn new(source: &'s str) -> Self {
        let ends = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Lines { source, starts }
    }

    /// The span of a stretch of the text.
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

/// The tokens of a part of a file, with a position in them.
#[derive(Clone, Debug)]
pub struct Tokens<'s> {
    source: &'s str,
    list: Vec<Token>,
    at: usize,
}

impl<'s> Tokens<'s> {
    /// Those of `clean[start..end]`, where `clean` is `source` with comments blanked out.
    /// What is no token is an error and becomes a token that fits nowhere.
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
        // Tokens come in order, so each is found from the one before it.
        let mut last = lines.span(start, start);
        while let Some(token) = lexer.next() {
            let (first, end) = (start + lexer.span().start, start + lexer.span().end);
            for c in source[last.start as usize..first].chars() {
                (last.line, last.column) =
                    if c == '\n' { (last.line + 1, 1) } else { (last.line, last.column + 1) };
            }
            last.start = first as u32;
            let span = Span { end: end as u32, ..last };
            let kind = token.unwrap_or_else(|()| {
                errors.push(Wrong::syntax(span, "this is no part of a litmus test"));
                Tok::Unknown
            });
            list.push(Token { kind, span });
        }
        list.push(Token { kind: Tok::End, span: lines.span(end, end) });
        Tokens { source, list, at: 0 }
    }

    /// The next token.
    pub fn peek(&self) -> Token {
        self.list[self.at]
    }

    /// The kind of the next token.
    pub fn kind(&self) -> Tok {
        self.peek().kind
    }

    /// The kind of the token after the next `ahead` ones.
    pub fn ahead(&self, ahead: usize) -> Tok {
        self.list.get(self.at + ahead).map_or(Tok::End, |token| token.kind)
    }

    /// Where the last token that was taken ends.
    pub fn last(&self) -> Span {
        self.list[self.at.saturating_sub(1)].span
    }

    /// The text of a token.
    pub fn text(&self, token: Token) -> &'s str {
        token.span.text(self.source)
    }

    /// The text of the next token.
    pub fn word(&self) -> &'s str {
        self.text(self.peek())
    }

    /// The text of the token after the next `ahead` ones.
    pub fn word_ahead(&self, ahead: usize) -> &'s str {
        self.list.get(self.at + ahead).map_or("", |token| self.text(*token))
    }

    /// Takes the next token; the end is never passed.
    pub fn take(&mut self) -> Token {
        let token = self.peek();
        if token.kind != Tok::End {
            self.at += 1;
        }
        token
    }

    /// Takes what could not be read: up to the first token for which `ends` says so, outside of brackets of one
    /// kind, or up to the end.
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

    /// Takes the next token if it is of this kind.
    pub fn eat(&mut self, kind: Tok) -> bool {
        let found = self.kind() == kind;
        if found {
            self.take();
        }
        found
    }

    /// Takes the next token if it is this word.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.kind() == Tok::Name && self.word() == word;
        if found {
            self.take();
        }
        found
    }

    /// Takes the next token, which must be of this kind.
    pub fn expect(&mut self, kind: Tok, what: &str) -> Result<Token, Wrong> {
        if self.kind() == kind { Ok(self.take()) } else { Err(self.unexpected(what)) }
    }

    /// Something else was expected here.
    pub fn unexpected(&self, what: &str) -> Wrong {
        let token = self.peek();
        let found = match token.kind {
            Tok::End => "the end".to_string(),
            _ => format!("`{}`", self.text(token)),
        };
        Wrong::syntax(token.span, format!("expected {what}, found {found}"))
    }

    /// Takes a name.
    pub fn name(&mut self, what: &str) -> Result<&'s str, Wrong> {
        let token = self.expect(Tok::Name, what)?;
        Ok(self.text(token))
    }

    /// Takes a number, possibly with a sign.
    pub fn number(&mut self, what: &str) -> Result<i128, Wrong> {
        let negative = self.eat(Tok::Minus);
        let token = self.expect(Tok::Number, what)?;
        let value = number(self.text(token))
            .ok_or_else(|| Wrong::syntax(token.span, "this number cannot be read"))?;
        Ok(if negative { -value } else { value })
    }

    /// Takes a number that counts something.
    pub fn count(&mut self, what: &str) -> Result<u32, Wrong> {
        let span = self.peek().span;
        let value = self.number(what)?;
        u32::try_from(value)
            .map_err(|_| Wrong::too_large(span, format!("{value} is no {what} we can use")))
    }

    /// Whether the next token is a number, or a sign and a number.
    pub fn is_number(&self) -> bool {
        self.kind() == Tok::Number || (self.kind() == Tok::Minus && self.ahead(1) == Tok::Number)
    }
}

/// A number without sign: decimal or `0x...`, with the suffixes of C; at most 64 bits.
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
    fn numbers_have_64_bits() {
        assert_eq!(number("12"), Some(12));
        assert_eq!(number("0xffffffffffffffff"), Some(i128::from(u64::MAX)));
        assert_eq!(number("3UL"), Some(3));
        for wrong in ["18446744073709551616", "0x", "1a", "0x1_0"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn spans_know_their_line() {
        let lines = Lines::new("a\nbc\n");
        assert_eq!((lines.span(3, 4).line, lines.span(3, 4).column), (2, 2));
        assert_eq!((lines.span(5, 5).line, lines.span(5, 5).column), (3, 1));
    }
}
