//! The spellings of tokens, each stored once, and the tokens of our headers.
//!
//! Most tokens of a small program come from our headers. They are split into tokens once for all
//! programs of a process. The spellings of our headers therefore have the same numbers in every
//! program.

use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::OnceLock;

use fencepost_ir::{Diagnostics, Span};

use super::headers;
use super::tokens::{self, Token};

/// The number of a spelling in [`Spellings`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(u32);

impl Symbol {
    /// Returns the number, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The spelling of a token.
#[derive(Clone, Debug)]
pub enum Spelling {
    /// A spelling that occurs in our headers.
    OfHeaders(&'static str),
    /// Another spelling.
    Other(Rc<str>),
}

impl Deref for Spelling {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Spelling::OfHeaders(text) => text,
            Spelling::Other(text) => text,
        }
    }
}

impl fmt::Display for Spelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// The spellings of a program, each stored once.
#[derive(Clone, Debug)]
pub struct Spellings {
    headers: &'static LexedHeaders,
    /// The spellings that are not in our headers. Their numbers follow those of the headers.
    others: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, Symbol>,
}

impl Default for Spellings {
    fn default() -> Self {
        Spellings { headers: lexed_headers(), others: Vec::new(), numbers: HashMap::new() }
    }
}

impl Spellings {
    /// Returns the number of a spelling, and stores the spelling if it is new.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(known) = self.find(text) {
            return known;
        }
        let symbol = Symbol(self.count() as u32);
        let text: Rc<str> = text.into();
        self.others.push(Rc::clone(&text));
        self.numbers.insert(text, symbol);
        symbol
    }

    /// Returns the number of a spelling, if it is stored.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.headers.numbers.get(text).or_else(|| self.numbers.get(text)).copied()
    }

    /// Returns how many spellings are stored. Their numbers are smaller.
    pub fn count(&self) -> usize {
        self.headers.spellings.len() + self.others.len()
    }

    /// Returns the spelling of a number.
    pub fn text(&self, symbol: Symbol) -> Spelling {
        let at = symbol.index();
        match self.headers.spellings.get(at) {
            Some(text) => Spelling::OfHeaders(text),
            None => {
                let other = self.others.get(at - self.headers.spellings.len());
                other.map_or(Spelling::OfHeaders(""), |text| Spelling::Other(Rc::clone(text)))
            }
        }
    }
}

/// The tokens and spellings of our headers.
#[derive(Debug, Default)]
struct LexedHeaders {
    spellings: Vec<Box<str>>,
    numbers: HashMap<Box<str>, Symbol>,
    /// By name. Positions are relative to the start of the header.
    tokens: HashMap<&'static str, Vec<Token>>,
}

impl LexedHeaders {
    fn intern(&mut self, text: &str) -> Symbol {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let symbol = Symbol(self.spellings.len() as u32);
        self.spellings.push(text.into());
        self.numbers.insert(text.into(), symbol);
        symbol
    }
}

fn lexed_headers() -> &'static LexedHeaders {
    static LEXED: OnceLock<LexedHeaders> = OnceLock::new();
    LEXED.get_or_init(|| {
        let mut lexed = LexedHeaders::default();
        for (name, text) in headers::all() {
            let mut diagnostics = Diagnostics::new();
            let tokens = tokens::lex(text, 0, |text| lexed.intern(text), &mut diagnostics);
            // A test checks that no header has an error.
            lexed.tokens.insert(name, tokens);
        }
        lexed
    })
}

/// Returns the tokens of one of our headers, if there is one with this name. `start` is the offset
/// of its text in the source map.
pub fn tokens_of_header(name: &str, start: u32) -> Option<Vec<Token>> {
    let moved = |span: Span| Span { start: start + span.start, end: start + span.end, ..span };
    let tokens = lexed_headers().tokens.get(name)?.iter();
    let at =
        |token: &Token| Token { span: moved(token.span), origin: moved(token.origin), ..*token };
    Some(tokens.map(at).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_tokens_of_headers_are_those_of_their_text() {
        for (name, text) in headers::all() {
            let mut spellings = Spellings::default();
            let mut diagnostics = Diagnostics::new();
            let expected = tokens::lex(text, 70, |text| spellings.intern(text), &mut diagnostics);
            assert!(diagnostics.is_empty(), "{name}");
            assert_eq!(tokens_of_header(name, 70), Some(expected), "{name}");
            assert!(spellings.others.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_spelling_has_one_number() {
        let mut spellings = Spellings::default();
        let (own, header) =
            (spellings.intern("not_in_any_header"), spellings.intern("pthread_create"));
        assert_eq!(spellings.intern("not_in_any_header"), own);
        assert_eq!(spellings.intern("pthread_create"), header);
        assert_eq!(&*spellings.text(own), "not_in_any_header");
        assert_eq!(&*spellings.text(header), "pthread_create");
    }
}
