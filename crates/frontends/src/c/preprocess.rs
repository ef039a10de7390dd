//! The preprocessor: turns a file and the files that it includes into one list of tokens.
//!
//! It is always used, instead of the preprocessor of a compiler, so that the result is the same on
//! every machine and every token has an exact position. Nothing here reads a file: the caller
//! passes a function that finds included files. Our own headers answer for `#include <...>` first.
//!
//! - [`splices`]: line continuations.
//! - [`directives`]: `#define`, `#if`, ...
//! - [`include`](mod@include): `#include`, and the files that are open.
//! - [`condition`]: the expressions of `#if`.
//! - [`macros`]: macro definitions.
//! - [`expand`], [`substitute`]: macro expansion, with [hide sets](hide_sets).
//!
//! Every token that is read or produced counts against [`MAX_TOKENS`], so that no macro or include
//! runs for long. DIVERGENCE from C: trigraphs are not replaced, `#line` has no effect, and names
//! have ASCII letters only.

pub mod condition;
pub mod directives;
pub mod expand;
pub mod hide_sets;
pub mod include;
pub mod macros;
pub mod splices;
pub mod substitute;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use fencepost_ir::{Diagnostic, Diagnostics, Span};

use super::codes;
use super::source_map::{FileKind, SourceMap};
use super::spellings::{Spelling, Spellings, Symbol};
use super::tokens::{Tok, Token};
use hide_sets::HideSets;
use include::{LexedFile, OpenFile};
use macros::Macro;

/// How many tokens may be read or produced in total.
pub const MAX_TOKENS: u32 = 1_000_000;

/// How many files may be open at the same time.
pub const MAX_INCLUDE_DEPTH: usize = 200;

/// How deeply the arguments of macros may contain macros.
pub const MAX_MACRO_DEPTH: u32 = 200;

/// After this many errors, the rest of the input is not read.
pub const MAX_ERRORS: usize = 100;

/// Finds an included file: from the name of the including file, the name in the directive, and
/// whether that is in `<...>`. Returns the name for messages (a file with the same name is the same
/// file) and the text.
pub type FindFile<'a> = dyn Fn(&str, &str, bool) -> Option<(String, String)> + Sync + 'a;

/// Options of the preprocessor.
#[derive(Clone, Copy)]
pub struct PreprocessOptions<'a> {
    /// Macro definitions: `NAME` or `NAME=VALUE`, as for the option `-D` of compilers.
    pub defines: &'a [String],
    /// Files to include before the main file.
    pub forced_includes: &'a [String],
    /// Finds included files.
    pub find_file: &'a FindFile<'a>,
}

impl std::fmt::Debug for PreprocessOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("PreprocessOptions");
        shown.field("defines", &self.defines).field("forced_includes", &self.forced_includes);
        shown.finish_non_exhaustive()
    }
}

impl Default for PreprocessOptions<'_> {
    /// No definitions, and only our own headers.
    fn default() -> Self {
        PreprocessOptions { defines: &[], forced_includes: &[], find_file: &|_, _, _| None }
    }
}

/// The result of preprocessing. Spans are those of the source map.
#[derive(Debug)]
pub struct Preprocessed {
    /// The files.
    pub map: SourceMap,
    /// The tokens. The last one has the kind [`Tok::End`].
    pub tokens: Vec<Token>,
    /// The spellings of the tokens.
    pub spellings: Spellings,
    /// The messages, with spans in any file.
    pub diagnostics: Diagnostics,
    /// Whether the tokens are only a part of the program, because a limit was reached.
    pub partial: bool,
}

/// Preprocesses a file.
pub fn preprocess(main_name: &str, text: &str, options: &PreprocessOptions<'_>) -> Preprocessed {
    let mut preprocessor = Preprocessor::new(options);
    let end = preprocessor.begin(main_name, text);
    let mut tokens = preprocessor.run();
    let text = preprocessor.spellings.intern("");
    let hide = hide_sets::HideSet::EMPTY;
    tokens.push(Token {
        kind: Tok::End,
        text,
        span: end,
        origin: end,
        hide,
        first: true,
        space: true,
    });
    Preprocessed {
        map: preprocessor.map,
        tokens,
        spellings: preprocessor.spellings,
        diagnostics: preprocessor.diagnostics,
        partial: preprocessor.abandoned,
    }
}

/// The state of preprocessing.
struct Preprocessor<'a> {
    options: &'a PreprocessOptions<'a>,
    map: SourceMap,
    spellings: Spellings,
    diagnostics: Diagnostics,
    /// Errors after the input was abandoned. They are not reported.
    discarded: Diagnostics,
    macros: HashMap<Symbol, Rc<Macro>>,
    hide_sets: HideSets,
    /// The open files, innermost last.
    files: Vec<OpenFile>,
    /// The files that were read, by name and kind.
    lexed: HashMap<(String, FileKind), LexedFile>,
    /// The files with `#pragma once`.
    once: HashSet<usize>,
    /// How many tokens may still be read or produced.
    budget: u32,
    /// How deeply the current macro is inside arguments of macros.
    depth: u32,
    /// The next value of `__COUNTER__`.
    counter: u32,
    /// How many braces are open in the produced tokens.
    braces: u32,
    /// The kind of the last produced token.
    last: Tok,
    /// Whether the rest of the input is ignored.
    abandoned: bool,
}

impl<'a> Preprocessor<'a> {
    fn new(options: &'a PreprocessOptions<'a>) -> Self {
        Preprocessor {
            options,
            map: SourceMap::default(),
            spellings: Spellings::default(),
            diagnostics: Diagnostics::new(),
            discarded: Diagnostics::new(),
            macros: HashMap::new(),
            hide_sets: HideSets::default(),
            files: Vec::new(),
            lexed: HashMap::new(),
            once: HashSet::new(),
            budget: MAX_TOKENS,
            depth: 0,
            counter: 0,
            braces: 0,
            last: Tok::Semi,
            abandoned: false,
        }
    }

    /// Produces all tokens.
    fn run(&mut self) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut input = expand::Input::from_files();
        while let Some(token) = self.expand_next(&mut input) {
            match token.kind {
                Tok::LBrace => self.braces += 1,
                Tok::RBrace => self.braces = self.braces.saturating_sub(1),
                _ => {}
            }
            self.last = token.kind;
            tokens.push(token);
        }
        tokens
    }

    /// Reports an error, unless the input is abandoned.
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

    /// Ignores the rest of the input.
    fn abandon(&mut self) {
        self.abandoned = true;
        self.files.clear();
    }

    /// Counts tokens. Returns whether they are within the limit.
    fn spend(&mut self, tokens: usize, span: Span) -> bool {
        let rest = u32::try_from(tokens).ok().and_then(|count| self.budget.checked_sub(count));
        if let Some(rest) = rest {
            self.budget = rest;
            return true;
        }
        if !self.abandoned {
            self.error(
                codes::TOO_LARGE,
                span,
                format!("preprocessing produces more than {MAX_TOKENS} tokens"),
            )
            .label("the limit is reached here")
            .hint("make the macros or the included files smaller");
            self.abandon();
        }
        false
    }

    fn text(&self, token: Token) -> Spelling {
        self.spellings.text(token.text)
    }
}
