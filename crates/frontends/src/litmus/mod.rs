//! Litmus tests in herd's format.
//!
//! | step | file | result |
//! |---|---|---|
//! | split into header, initial state, program, constraint; blank comments | [`sections`] | byte ranges |
//! | tokenize | [`tokens`] | [`tokens::Tokens`] |
//! | parse initial state, condition, program | [`init`], [`condition`], [`x86`], [`aarch64`], [`c`] | [`ast::File`] |
//! | assign locations and values, emit code | [`layout`], [`assembler`], [`mod@lower`] | [`Test`] |
//!
//! Other modules: `wrap` makes arithmetic wrap around. [`hash`] computes herd's hash of a test. [`error`] defines the diagnostics.
//! `fences` lists the fences of each dialect. [`table`] is the table of an assembly test, and [`edit`] writes fences into it.
//! [`flags`] are the status flags of both assembly languages.
//! [`forbid`](mod@forbid) turns an `exists` condition into a forbidden outcome.
//!
//! X86 instructions have their x86 semantics under every model: a locked instruction waits for all
//! pending stores of its thread, `SFENCE` orders stores, `LFENCE` orders loads. Loops are not
//! unrolled.

pub mod aarch64;
pub mod assembler;
pub mod ast;
pub mod c;
pub mod condition;
pub mod edit;
pub mod error;
mod fences;
pub mod flags;
pub mod forbid;
mod hash;
mod init;
pub mod layout;
pub mod lower;
mod sections;
pub mod table;
pub mod test;
#[cfg(test)]
mod tests;
pub mod tokens;
mod wrap;
pub mod x86;

pub use test::Test;

use ast::{Arch, Body, File};
use error::{Errors, LitmusError};
use fencepost_ir::{Diagnostics, Placement, Problem, Program, WrittenFences};
use fences::Dialect;
use tokens::{Lines, Tokens};

use crate::edit::blocks::{self, FileText};
use crate::edit::{EditError, FileEdits};
use crate::fp::limits;
use crate::{FenceSyntax, Frontend, Request};

/// The front end for `.litmus` files.
#[derive(Clone, Copy, Debug, Default)]
pub struct LitmusFrontend;

impl Frontend for LitmusFrontend {
    fn name(&self) -> &'static str {
        "litmus"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["litmus"]
    }

    fn lower_for(
        &self,
        source: &str,
        request: &Request<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Problem>> {
        let test = read(source, "test", request.places, diagnostics)?;
        Some(vec![test.problem])
    }

    fn fences(&self, source: &str, _request: &Request<'_>) -> FenceSyntax {
        let file = parse(source, "");
        file.map_or(Dialect::C11, |file| Dialect::of(&file, source)).syntax()
    }

    fn insert(
        &self,
        source: &str,
        request: &Request<'_>,
        program: &Program,
        placement: &Placement,
        written: WrittenFences,
    ) -> Result<Vec<FileEdits>, EditError> {
        let file = parse(source, "").map_err(|_| EditError::Unreadable)?;
        let syntax = Dialect::of(&file, source).syntax();
        let edits = match &file.body {
            Body::X86(columns) => {
                edit::insert(&syntax, (source, columns), program, placement, written)?
            }
            Body::AArch64(columns) => {
                edit::insert(&syntax, (source, columns), program, placement, written)?
            }
            Body::C(_) => {
                let text = FileText { text: source, start: 0 };
                blocks::insert(&syntax, text, program, placement, written)?
            }
        };
        Ok(FileEdits::of_main_file(request.name, source, edits))
    }
}

/// Parses and lowers the test in `source`. `stem` is the file name without its extension. If
/// `places` is set, the program has places for fences. Returns `None` exactly when an error was
/// reported.
pub fn read(source: &str, stem: &str, places: bool, diagnostics: &mut Diagnostics) -> Option<Test> {
    match read_or_errors(source, stem, places) {
        Ok(test) => {
            for (span, message) in &test.warnings {
                diagnostics.warning(error::NEVER_WRITTEN, *span, message.clone());
            }
            Some(test)
        }
        Err(errors) => {
            errors.report(diagnostics);
            None
        }
    }
}

fn read_or_errors(source: &str, stem: &str, places: bool) -> Result<Test, Errors> {
    let mut errors = Errors::default();
    let file = parse_partly(source, stem, &mut errors);
    let test = file.and_then(|file| lower::lower(&file, source, places, &mut errors));
    test.filter(|_| errors.is_empty()).ok_or(errors)
}

/// Parses a text into its syntax tree. Returns all errors if there are any.
pub fn parse(source: &str, stem: &str) -> Result<File, Errors> {
    let mut errors = Errors::default();
    let file = parse_partly(source, stem, &mut errors);
    file.filter(|_| errors.is_empty()).ok_or(errors)
}

/// Parses a text and returns the valid parts of its syntax tree. Returns `None` if the initial
/// state or the list of threads is invalid: lowering could then report only consequential errors.
fn parse_partly(source: &str, stem: &str, errors: &mut Errors) -> Option<File> {
    let lines = Lines::new(source);
    if source.len() > limits::SOURCE {
        let message = format!("this file is too large: it has {} bytes", source.len());
        let allowed = format!("at most {} bytes are allowed", limits::SOURCE);
        errors.push(LitmusError::too_large(lines.span(0, 0), message).label(allowed));
        return None;
    }
    let found = sections::split_sections(source, &lines);
    let sections = errors.check(found)?;
    if sections.name.is_empty() {
        let message = "the test has no name: write one after the language, as in `X86 SB`";
        errors.push(LitmusError::syntax(sections.name_span, message));
    }
    let tokens = |(start, end), errors: &mut Errors| {
        Tokens::new(source, &sections.clean, &lines, start, end, errors)
    };
    let init = init::parse(&mut tokens(sections.init, errors), errors);
    let mut program = tokens(sections.program, errors);
    let (body, constraint) = match sections.arch {
        Arch::X86 | Arch::X86_64 => {
            let body =
                x86::parse::parse_columns(&mut program, sections.arch, errors).map(Body::X86);
            (body, condition::parse(&mut program, errors))
        }
        Arch::AArch64 => {
            let body = aarch64::parse::parse_columns(&mut program, errors).map(Body::AArch64);
            (body, condition::parse(&mut program, errors))
        }
        Arch::C => {
            let body = c::parse::parse_functions(&mut program, errors).map(Body::C);
            (body, condition::parse(&mut tokens(sections.constraint, errors), errors))
        }
    };
    let name = if sections.name == "--" { stem.to_string() } else { sections.name };
    let (arch, doc, metadata) = (sections.arch, sections.doc, sections.metadata);
    Some(File { arch, name, doc, metadata, init: init?, body: body?, constraint })
}
