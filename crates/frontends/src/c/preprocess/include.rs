//! `#include`, and the files that are open.

use std::rc::Rc;

use fencepost_ir::Span;

use super::directives::Conditional;
use super::{MAX_INCLUDE_DEPTH, Preprocessor};
use crate::c::source_map::FileKind;
use crate::c::spellings::tokens_of_header;
use crate::c::tokens::{self, Tok, Token};
use crate::c::{codes, headers};

/// The tokens of a file. A file that is included again is not split again.
#[derive(Clone, Debug)]
pub(super) struct LexedFile {
    /// The number of the file in the source map.
    file: usize,
    tokens: Rc<[Token]>,
}

/// A file that is being read.
#[derive(Debug)]
pub(super) struct OpenFile {
    /// The number of the file in the source map.
    pub(super) file: usize,
    pub(super) tokens: Rc<[Token]>,
    /// The next token.
    pub(super) at: usize,
    /// The conditionals that are open in this file, innermost last.
    pub(super) conditionals: Vec<Conditional>,
}

impl OpenFile {
    /// Returns whether the current text is excluded by a conditional.
    pub(super) fn is_skipping(&self) -> bool {
        self.conditionals.last().is_some_and(|conditional| !conditional.active)
    }
}

impl Preprocessor<'_> {
    /// Opens the main file, the forced includes, the definitions of the command line and the
    /// built-in names, to be read in the opposite order. Returns the position of the end of the main
    /// file.
    pub(super) fn begin(&mut self, main_name: &str, text: &str) -> Span {
        let start = Span { start: 0, end: 0, line: 1, column: 1 };
        self.open(main_name, text, FileKind::Main, start);
        let end = self.files.last().and_then(|file| file.tokens.last()).map_or(start, |last| {
            Span { start: last.span.end, column: last.span.column + 1, ..last.span }
        });
        for name in self.options.forced_includes.iter().rev() {
            self.open_include(name, false, start);
        }
        let defines: String = self.options.defines.iter().map(|text| define_line(text)).collect();
        self.open("command line", &defines, FileKind::BuiltIn, start);
        self.open(headers::PRELUDE, headers::prelude(), FileKind::BuiltIn, start);
        self.open(headers::PREDEFINED, headers::predefined(), FileKind::BuiltIn, start);
        end
    }

    /// Opens a file. `at` is the position of the directive.
    fn open(&mut self, name: &str, text: &str, kind: FileKind, at: Span) {
        let key = (name.to_string(), kind);
        let lexed = if let Some(lexed) = self.lexed.get(&key) {
            lexed.clone()
        } else {
            let Some(file) = self.map.add(name, text, kind) else {
                self.error(codes::TOO_LARGE, at, "the included files are larger than 4 GiB");
                return;
            };
            self.map.set_inclusion(file, at);
            let start = self.map.files().get(file).map_or(0, |file| file.start);
            let stored = (kind == FileKind::BuiltIn).then(|| tokens_of_header(name, start));
            let tokens = stored.flatten().unwrap_or_else(|| {
                let intern = |text: &str| self.spellings.intern(text);
                tokens::lex(text, start, intern, &mut self.diagnostics)
            });
            let lexed = LexedFile { file, tokens: tokens.into() };
            self.lexed.insert(key, lexed.clone());
            lexed
        };
        let LexedFile { file, tokens } = lexed;
        if !self.once.contains(&file) {
            self.files.push(OpenFile { file, tokens, at: 0, conditionals: Vec::new() });
        }
    }

    /// Handles `#include`. `at` is the position of the directive.
    pub(super) fn include(&mut self, line: &[Token], at: Span) {
        match self.header_name(line) {
            Some((name, angled)) => self.open_include(&name, angled, at),
            None => {
                self.error(codes::DIRECTIVE, at, "`#include` has no file name")
                    .hint("write `#include <name.h>` or `#include \"name.h\"`");
            }
        }
    }

    /// Reads the name of a header from a directive or from `__has_include`: `"name"`, `<name>` or a
    /// macro. Returns the name and whether it is in `<...>`.
    pub(super) fn header_name(&mut self, line: &[Token]) -> Option<(String, bool)> {
        if let Some(name) = self.literal_header_name(line) {
            return Some(name);
        }
        let expanded = self.expand_list(line.to_vec());
        self.literal_header_name(&expanded)
    }

    fn literal_header_name(&self, line: &[Token]) -> Option<(String, bool)> {
        let first = line.first()?;
        if first.kind == Tok::String {
            let text = self.text(*first);
            let name = text.strip_prefix('"')?.strip_suffix('"')?;
            return (!name.is_empty()).then(|| (name.to_string(), false));
        }
        let close = line.iter().position(|token| token.kind == Tok::Gt)?;
        let between = line.get(1..close).filter(|_| first.kind == Tok::Lt)?;
        let mut name = String::new();
        for token in between {
            if token.space && !name.is_empty() {
                name.push(' ');
            }
            name.push_str(&self.text(*token));
        }
        (!name.is_empty()).then_some((name, true))
    }

    /// Returns the name and text of a header and whether it is built in.
    fn find(&self, name: &str, angled: bool) -> Option<(String, String, FileKind)> {
        let built_in = || {
            let (name, text) = headers::find(name)?;
            Some((name.to_string(), text.to_string(), FileKind::BuiltIn))
        };
        if angled && let Some(found) = built_in() {
            return Some(found);
        }
        let including = self.files.last().and_then(|file| self.map.files().get(file.file));
        let including = including.map_or("", |file| file.name.as_str());
        match (self.options.find_file)(including, name, angled) {
            Some((name, text)) => {
                let is_main = self.map.files().first().is_some_and(|main| main.name == name);
                let kind = if is_main { FileKind::Main } else { FileKind::Included };
                Some((name, text, kind))
            }
            None => built_in(),
        }
    }

    /// Returns whether `#include` would find a header.
    pub(super) fn has_header(&self, name: &str, angled: bool) -> bool {
        self.find(name, angled).is_some()
    }

    fn open_include(&mut self, name: &str, angled: bool, at: Span) {
        if self.files.len() >= MAX_INCLUDE_DEPTH {
            self.error(
                codes::TOO_DEEP,
                at,
                format!("`#include` is nested more than {MAX_INCLUDE_DEPTH} levels deep"),
            )
            .hint("a file probably includes itself: put `#pragma once` at its start");
            self.abandon();
            return;
        }
        match self.find(name, angled) {
            Some((name, text, kind)) => {
                let inside = self.files.last().map_or(at, |file| self.map.inclusion(file.file, at));
                self.open(&name, &text, kind, inside);
            }
            None => {
                let hint = headers::missing_hint(name);
                self.error(codes::NO_HEADER, at, format!("there is no header `{name}`")).hint(hint);
            }
        }
    }
}

/// Returns the directive for a definition of the command line.
fn define_line(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    match text.split_once('=') {
        Some((name, value)) => format!("#define {name} {value}\n"),
        None => format!("#define {text} 1\n"),
    }
}
