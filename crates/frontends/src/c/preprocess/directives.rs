//! Directives: the lines that begin with `#`.

use fencepost_ir::Span;

use super::Preprocessor;
use crate::c::codes;
use crate::c::tokens::{Tok, Token};

/// An `#if` that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditional {
    /// Whether the text of the current branch is read.
    pub(super) active: bool,
    /// Whether no further branch is read: one was read already, or the whole `#if` is skipped.
    done: bool,
    /// Whether `#else` was seen.
    in_else: bool,
    /// The position of the `#if`.
    span: Span,
}

/// The names of all directives, for messages.
const DIRECTIVES: &str = "#define, #undef, #include, #if, #ifdef, #ifndef, #elif, #else, #endif, \
                          #error, #warning, #pragma and #line";

impl Preprocessor<'_> {
    /// Returns the next token of the open files that is not part of a directive.
    pub(super) fn next_of_files(&mut self) -> Option<Token> {
        loop {
            let file = self.files.last_mut()?;
            let Some(token) = file.tokens.get(file.at).copied() else {
                self.end_of_file();
                continue;
            };
            file.at += 1;
            let is_directive = token.first && token.kind == Tok::Hash;
            let is_skipping = file.is_skipping();
            if !self.spend(1, token.span) {
                return None;
            }
            if is_directive {
                self.directive(token);
            } else if !is_skipping {
                return Some(token);
            }
        }
    }

    fn end_of_file(&mut self) {
        let Some(file) = self.files.pop() else { return };
        if let Some(open) = file.conditionals.last() {
            self.error(codes::CONDITIONAL, open.span, "this `#if` has no `#endif`")
                .hint("add `#endif`");
        }
    }

    /// Returns the rest of the current line.
    fn rest_of_line(&mut self) -> Vec<Token> {
        let Some(file) = self.files.last_mut() else { return Vec::new() };
        let rest = file.tokens.get(file.at..).unwrap_or_default();
        let length = rest.iter().position(|token| token.first).unwrap_or(rest.len());
        let line = rest[..length].to_vec();
        file.at += length;
        let span = line.first().map_or(Span::default(), |first| first.span);
        self.spend(length, span);
        line
    }

    /// Handles a directive. `hash` is the `#`.
    fn directive(&mut self, hash: Token) {
        let line = self.rest_of_line();
        let span = line.last().map_or(hash.span, |last| hash.span.to(last.span));
        let Some((name, rest)) = line.split_first() else { return };
        let text = self.text(*name);
        let is_skipping = self.files.last().is_some_and(super::OpenFile::is_skipping);
        match &*text {
            "if" | "ifdef" | "ifndef" => {
                let value = !is_skipping && self.begins_active(&text, rest, span);
                let done = value || is_skipping;
                self.open_conditional(Conditional { active: value, done, in_else: false, span });
            }
            "elif" | "else" => self.next_branch(&text, rest, span),
            "endif" => {
                let closed = self.files.last_mut().and_then(|file| file.conditionals.pop());
                if closed.is_none() {
                    self.without_if(&text, span);
                }
            }
            _ if is_skipping => {}
            "define" => self.define(rest, span),
            "undef" => self.undefine(rest, span),
            "include" | "include_next" | "import" => self.include(rest, span),
            "error" => {
                let message = self.rest_text(rest, "`#error`");
                self.error(codes::ERROR_DIRECTIVE, span, message)
                    .label("the program reports this error")
                    .hint("a macro that the program expects is probably missing: try `-D NAME`");
            }
            "warning" => {
                let message = self.rest_text(rest, "`#warning`");
                self.diagnostics.warning(codes::WARNING_DIRECTIVE, span, message);
            }
            "pragma" => {
                if rest.first().is_some_and(|word| &*self.text(*word) == "once") {
                    let file = self.files.last().map(|file| file.file);
                    self.once.extend(file);
                }
            }
            "line" | "ident" | "sccs" => {}
            // `# 12 "file.c"`: the output of a preprocessor.
            _ if name.kind == Tok::Number => {}
            _ => {
                self.error(codes::DIRECTIVE, span, format!("there is no directive `#{text}`"))
                    .hint(format!("the directives are {DIRECTIVES}"));
            }
        }
    }

    /// Returns whether the branch of `#if`, `#ifdef` or `#ifndef` is read.
    fn begins_active(&mut self, directive: &str, rest: &[Token], span: Span) -> bool {
        if directive == "if" {
            return self.condition(rest, span);
        }
        match rest.first().filter(|name| name.kind.is_word()) {
            Some(name) => self.is_defined(*name) == (directive == "ifdef"),
            None => {
                self.error(codes::DIRECTIVE, span, format!("`#{directive}` has no name"));
                false
            }
        }
    }

    /// Returns whether a name is a macro.
    pub(super) fn is_defined(&self, name: Token) -> bool {
        self.macros.contains_key(&name.text)
            || matches!(
                &*self.text(name),
                "__LINE__" | "__FILE__" | "__COUNTER__" | "__has_include"
            )
    }

    fn open_conditional(&mut self, conditional: Conditional) {
        if let Some(file) = self.files.last_mut() {
            file.conditionals.push(conditional);
        }
    }

    fn without_if(&mut self, directive: &str, span: Span) {
        self.error(codes::CONDITIONAL, span, format!("`#{directive}` without `#if`"))
            .hint("remove this line, or add the `#if` that it belongs to");
    }

    /// Handles `#elif` and `#else`.
    fn next_branch(&mut self, directive: &str, rest: &[Token], span: Span) {
        let open = self.files.last_mut().and_then(|file| file.conditionals.pop());
        let Some(mut open) = open else {
            self.without_if(directive, span);
            return;
        };
        if open.in_else {
            self.error(codes::CONDITIONAL, span, format!("`#{directive}` after `#else`"))
                .related(open.span, "the `#if` is here");
        }
        open.in_else |= directive == "else";
        // A condition is only evaluated if no branch before it was read.
        open.active = !open.done && (open.in_else || self.condition(rest, span));
        open.done |= open.active;
        self.open_conditional(open);
    }

    /// Returns the text of the rest of a line.
    fn rest_text(&self, rest: &[Token], empty: &str) -> String {
        let (Some(first), Some(last)) = (rest.first(), rest.last()) else {
            return empty.to_string();
        };
        let text = self.map.text(first.span.to(last.span));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
