//! Macro definitions: `#define` and `#undef`.

use std::rc::Rc;

use fencepost_ir::Span;

use super::Preprocessor;
use crate::c::source_map::FileKind;
use crate::c::spellings::Symbol;
use crate::c::tokens::{Tok, Token};
use crate::c::{codes, headers};

/// A macro.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    /// The parameters of a macro that is used like a function.
    pub(super) parameters: Option<Vec<Symbol>>,
    /// Whether the last parameter stands for all further arguments.
    pub(super) variadic: bool,
    pub(super) body: Vec<Token>,
    pub(super) origin: Origin,
    /// The position of the name in its definition.
    pub(super) span: Span,
}

/// Where a macro is defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// In a file of the user.
    User,
    /// In one of our headers, or on the command line. A definition of the user replaces it.
    BuiltIn,
    /// In our header that is always included. A function that the user declares replaces it, too.
    Prelude,
}

impl Preprocessor<'_> {
    /// Handles `#define`. `line` begins with the name.
    pub(super) fn define(&mut self, line: &[Token], at: Span) {
        let Some((name, rest)) = line.split_first().filter(|(name, _)| name.kind.is_word()) else {
            self.error(codes::MACRO_DEFINITION, at, "`#define` has no name")
                .hint("write `#define NAME value`");
            return;
        };
        if matches!(&*self.text(*name), "defined" | "__VA_ARGS__") {
            let message = format!("`{}` cannot be a macro", self.text(*name));
            self.error(codes::MACRO_DEFINITION, name.span, message);
            return;
        }
        let is_function = rest.first().is_some_and(|t| t.kind == Tok::LParen && !t.space);
        let (parameters, variadic, body) = if is_function {
            let Some((parameters, variadic, length)) = self.parameters(rest) else {
                self.error(
                    codes::MACRO_DEFINITION,
                    name.span.to(rest.last().map_or(name.span, |last| last.span)),
                    format!("the parameters of the macro `{}` are malformed", self.text(*name)),
                )
                .hint("write `#define NAME(a, b) text` or `#define NAME(a, ...) text`");
                return;
            };
            (Some(parameters), variadic, rest.get(length..).unwrap_or_default())
        } else {
            (None, false, rest)
        };
        let pasted = [body.first(), body.last()];
        if let Some(hash) = pasted.into_iter().flatten().find(|t| t.kind == Tok::HashHash) {
            let message = "`##` cannot be at the start or end of a macro";
            self.error(codes::MACRO_DEFINITION, hash.span, message);
            return;
        }
        let mut body = body.to_vec();
        for token in &mut body {
            token.first = false;
        }
        let span = name.span;
        let new = Macro { parameters, variadic, body, origin: self.origin(), span };
        if let Some(old) = self.macros.get(&name.text)
            && old.origin == Origin::User
            && !is_same(old, &new)
        {
            let (message, old) =
                (format!("the macro `{}` is defined again", self.text(*name)), old.span);
            if !self.abandoned {
                self.diagnostics
                    .warning(codes::REDEFINED_MACRO, span, message)
                    .related(old, "the first definition is here")
                    .hint("the new definition is used from here on; write `#undef` before it");
            }
        }
        self.macros.insert(name.text, Rc::new(new));
    }

    /// Handles `#undef`.
    pub(super) fn undefine(&mut self, line: &[Token], at: Span) {
        match line.first().filter(|name| name.kind.is_word()) {
            Some(name) => {
                self.macros.remove(&name.text);
            }
            None => {
                self.error(codes::DIRECTIVE, at, "`#undef` has no name");
            }
        }
    }

    fn origin(&self) -> Origin {
        let file = self.files.last().and_then(|file| self.map.files().get(file.file));
        match file {
            Some(file) if file.kind == FileKind::BuiltIn && file.name == headers::PRELUDE => {
                Origin::Prelude
            }
            Some(file) if file.kind == FileKind::BuiltIn => Origin::BuiltIn,
            Some(_) | None => Origin::User,
        }
    }

    /// Reads `(a, b, ...)`. Returns the parameters, whether there may be more arguments, and the
    /// number of tokens.
    fn parameters(&mut self, rest: &[Token]) -> Option<(Vec<Symbol>, bool, usize)> {
        let mut parameters: Vec<Symbol> = Vec::new();
        let mut at = 1;
        if rest.get(at)?.kind == Tok::RParen {
            return Some((parameters, false, at + 1));
        }
        loop {
            let token = rest.get(at)?;
            at += 1;
            let ellipsis = token.kind == Tok::Ellipsis;
            if ellipsis {
                parameters.push(self.spellings.intern("__VA_ARGS__"));
            } else if token.kind.is_word() && !parameters.contains(&token.text) {
                parameters.push(token.text);
            } else {
                return None;
            }
            let named = !ellipsis && rest.get(at)?.kind == Tok::Ellipsis;
            at += usize::from(named);
            let variadic = ellipsis || named;
            match rest.get(at)?.kind {
                Tok::RParen => return Some((parameters, variadic, at + 1)),
                Tok::Comma if !variadic => at += 1,
                _ => return None,
            }
        }
    }
}

/// Returns whether two definitions are the same, as C requires for a definition that is repeated.
fn is_same(a: &Macro, b: &Macro) -> bool {
    let same_token =
        |(a, b): (&Token, &Token)| (a.kind, a.text, a.space) == (b.kind, b.text, b.space);
    let first_space = |body: &[Token]| -> Vec<Token> {
        let mut body = body.to_vec();
        if let Some(first) = body.first_mut() {
            first.space = false;
        }
        body
    };
    let (left, right) = (first_space(&a.body), first_space(&b.body));
    a.parameters == b.parameters
        && a.variadic == b.variadic
        && left.len() == right.len()
        && left.iter().zip(&right).all(same_token)
}
