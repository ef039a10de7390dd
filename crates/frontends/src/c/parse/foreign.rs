//! Hints for usual mistakes: C++ in a C program, and types whose header is missing.

use super::scopes::Meaning;
use super::{ParseResult, Parser, SyntaxError};
use crate::c::codes;
use crate::c::tokens::{Tok, Token};

/// Words of C++ and what to write in C.
const WORDS: &[(&str, &str)] = &[
    ("class", "use `struct`, and functions with a pointer to it"),
    ("template", "write a function or macro for each type"),
    ("typename", "write the type itself"),
    ("namespace", "use a common prefix for the names"),
    ("using", "use `typedef`"),
    ("public", "all members of a `struct` are public"),
    ("private", "all members of a `struct` are public"),
    ("protected", "all members of a `struct` are public"),
    ("virtual", "use a pointer to a function"),
    ("operator", "write a function"),
    ("new", "use `malloc`"),
    ("delete", "use `free`"),
    ("throw", "return an error value"),
    ("try", "return an error value"),
    ("catch", "return an error value"),
    ("constexpr", "use `enum` or `#define` for constants"),
    ("noexcept", "remove it"),
    ("mutable", "remove it"),
    ("explicit", "remove it"),
    ("friend", "remove it"),
    ("nullptr", "use `NULL` of `<stddef.h>`"),
    ("static_cast", "write a cast as `(type) value`"),
    ("reinterpret_cast", "write a cast as `(type) value`"),
    ("const_cast", "write a cast as `(type) value`"),
    ("std", "use `<stdatomic.h>`, `<pthread.h>` and other headers of C"),
];

/// Types and the headers that declare them.
const TYPES: &[(&str, &str)] = &[
    ("bool", "stdbool.h"),
    ("size_t", "stddef.h"),
    ("ptrdiff_t", "stddef.h"),
    ("wchar_t", "stddef.h"),
    ("ssize_t", "sys/types.h"),
    ("FILE", "stdio.h"),
    ("va_list", "stdarg.h"),
    ("sem_t", "semaphore.h"),
    ("memory_order", "stdatomic.h"),
    ("mtx_t", "threads.h"),
    ("cnd_t", "threads.h"),
    ("thrd_t", "threads.h"),
    ("once_flag", "threads.h"),
    ("atomic_t", "linux/atomic.h"),
    ("u8", "linux/types.h"),
    ("u16", "linux/types.h"),
    ("u32", "linux/types.h"),
    ("u64", "linux/types.h"),
];

/// Returns the header that declares a type of the library.
fn header_of(name: &str) -> Option<&'static str> {
    if let Some((_, header)) = TYPES.iter().find(|(known, _)| *known == name) {
        return Some(header);
    }
    let stem = name.strip_suffix("_t");
    match stem {
        Some(stem) if stem.starts_with("pthread_") => Some("pthread.h"),
        Some(stem) if stem.starts_with("int") || stem.starts_with("uint") => Some("stdint.h"),
        _ if name.starts_with("atomic_") => Some("stdatomic.h"),
        _ => None,
    }
}

impl Parser<'_> {
    /// Reports a type that is not declared. Parsing continues as if it were, except after a word of
    /// C++.
    pub(super) fn unknown_type(&mut self, token: Token) -> ParseResult<()> {
        let text = self.text(token);
        if let Some((_, hint)) = WORDS.iter().find(|(word, _)| **word == *text) {
            return Err(self.cplusplus(token, &format!("`{text}`"), hint));
        }
        let hint = match header_of(&text) {
            Some(header) => format!("add `#include <{header}>`"),
            None => "declare the type first, or include the header that declares it".into(),
        };
        self.error(codes::UNKNOWN_TYPE, token.span, format!("there is no type `{text}`"))
            .label("not declared")
            .hint(hint);
        self.scopes.declare_in_file(&text, Meaning::Type);
        Ok(())
    }

    pub(super) fn cplusplus(&mut self, token: Token, what: &str, hint: &str) -> SyntaxError {
        self.error(codes::CPLUSPLUS, token.span, format!("this is C++: {what}"))
            .label("not part of C")
            .hint(hint);
        SyntaxError
    }

    /// Reports C++ at the place of a syntax error.
    pub(super) fn foreign_error(&mut self) -> Option<SyntaxError> {
        let token = self.token();
        let previous = self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).copied();
        let before = previous.map(|token| token.kind);
        match token.kind {
            Tok::String if before == Some(Tok::Extern) => {
                let hint = "put it between `#ifdef __cplusplus` and `#endif`";
                return Some(self.cplusplus(token, "`extern \"C\"`", hint));
            }
            Tok::And if is_type_end(before) => {
                return Some(self.cplusplus(token, "a reference", "use a pointer"));
            }
            Tok::LBracket if matches!(self.peek_at(1), Tok::And | Tok::Assign | Tok::RBracket) => {
                return Some(self.cplusplus(token, "a lambda", "write a function"));
            }
            Tok::Colon if self.peek_at(1) == Tok::Colon || before == Some(Tok::Colon) => {
                return Some(self.cplusplus(token, "`::`", "names in C have no namespace"));
            }
            _ => {}
        }
        for candidate in [Some(token), previous].into_iter().flatten() {
            let text = self.text(candidate);
            if candidate.kind == Tok::Name
                && self.meaning(candidate).is_none()
                && let Some((_, hint)) = WORDS.iter().find(|(word, _)| **word == *text)
            {
                return Some(self.cplusplus(candidate, &format!("`{text}`"), hint));
            }
        }
        None
    }

    /// Reports a name in an expression that is a word of C++.
    pub(super) fn foreign_name(&mut self) -> Option<SyntaxError> {
        let token = self.token();
        if self.meaning(token).is_some() {
            return None;
        }
        let text = self.text(token);
        let is_foreign = match &*text {
            "nullptr" | "static_cast" | "reinterpret_cast" | "const_cast" => true,
            "new" | "delete" | "throw" => {
                matches!(self.peek_at(1), Tok::Name | Tok::LBracket) || self.is_type_at(1)
            }
            "try" => self.peek_at(1) == Tok::LBrace,
            _ => self.peek_at(1) == Tok::Colon && self.peek_at(2) == Tok::Colon,
        };
        if !is_foreign {
            return None;
        }
        let hint = WORDS.iter().find(|(word, _)| **word == *text).map(|(_, hint)| *hint);
        let hint = hint.unwrap_or("names in C have no namespace");
        Some(self.cplusplus(token, &format!("`{text}`"), hint))
    }
}

/// Returns whether a token can end the type before a declarator.
fn is_type_end(kind: Option<Tok>) -> bool {
    matches!(
        kind,
        Some(
            Tok::Int
                | Tok::Char8
                | Tok::Long
                | Tok::Short
                | Tok::Unsigned
                | Tok::Signed
                | Tok::Bool
                | Tok::Auto
                | Tok::Const
                | Tok::Name
        )
    )
}
