//! Litmus tests in herd's format.
//!
//! | step | file | result |
//! |---|---|---|
//! | header, initial state, program, constraint; comments go | [`sections`] | ranges of the text |
//! | tokens | [`tokens`] | [`tokens::Tokens`] |
//! | initial state, condition, program | [`init`], [`condition`], [`x86`], [`c`] | [`ast::File`] |
//! | locations and values, code for each thread | [`layout`], [`assembler`], [`mod@lower`] | [`Test`] |
//!
//! Beside it: [`hash`] tells tests apart as herd does; [`wrong`] is what can be said about a file; `fences`
//! says which fences each dialect has; [`edit`] writes them into a table; [`forbid`](mod@forbid) turns the question round.
//!
//! X86 instructions mean what they mean on x86 under every model: a locked one waits for all pending stores of
//! its thread, `SFENCE` orders stores, `LFENCE` orders loads. Nothing is unrolled: a loop is a loop.

pub mod assembler;
pub mod ast;
pub mod c;
pub mod condition;
pub mod edit;
mod fences;
pub mod forbid;
mod hash;
mod init;
pub mod layout;
pub mod lower;
mod sections;
pub mod test;
#[cfg(test)]
mod tests;
pub mod tokens;
pub mod wrong;
pub mod x86;

pub use test::Test;

use ast::{Arch, Body, File};
use fencepost_ir::{Diagnostics, Placement, Problem, Program, Written};
use fences::Dialect;
use tokens::{Lines, Tokens};
use wrong::{Errors, Wrong};

use crate::edit::{EditError, TextEdit, blocks};
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

    fn fences(&self, source: &str) -> FenceSyntax {
        let file = parse(source, "");
        file.map_or(Dialect::C11, |file| Dialect::of(&file, source)).syntax()
    }

    fn insert(
        &self,
        source: &str,
        program: &Program,
        placement: &Placement,
        written: Written,
    ) -> Result<Vec<TextEdit>, EditError> {
        let file = parse(source, "").map_err(|_| EditError::Unreadable)?;
        let syntax = Dialect::of(&file, source).syntax();
        match &file.body {
            Body::X86(columns) => {
                edit::insert(&syntax, (source, columns), program, placement, written)
            }
            Body::C(_) => blocks::insert(&syntax, source, program, placement, written),
        }
    }
}

/// The test that a text describes; `stem` is the name of its file, without the ending. `None` exactly when
/// an error was reported.
pub fn read(source: &str, stem: &str, places: bool, diagnostics: &mut Diagnostics) -> Option<Test> {
    match read_or_errors(source, stem, places) {
        Ok(test) => {
            for (span, message) in &test.untouched {
                diagnostics.warning(wrong::UNTOUCHED, *span, message.clone());
            }
            Some(test)
        }
        Err(errors) => {
            errors.tell(diagnostics);
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

/// The syntax tree of a text.
pub fn parse(source: &str, stem: &str) -> Result<File, Errors> {
    let mut errors = Errors::default();
    let file = parse_partly(source, stem, &mut errors);
    file.filter(|_| errors.is_empty()).ok_or(errors)
}

/// The syntax tree of what could be read, if that is enough to look for further errors: without its initial state
/// or its threads, nothing in a test has a meaning.
fn parse_partly(source: &str, stem: &str, errors: &mut Errors) -> Option<File> {
    let lines = Lines::new(source);
    if source.len() > limits::SOURCE {
        let message = format!("this file has {} bytes", source.len());
        let allowed = format!("at most {} are allowed", limits::SOURCE);
        errors.push(Wrong::too_large(lines.span(0, 0), message).label(allowed));
        return None;
    }
    let found = sections::sections(source, &lines);
    let sections = errors.check(found)?;
    if sections.name.is_empty() {
        errors.push(Wrong::syntax(sections.named, "a test has a name after its language"));
    }
    let tokens = |(start, end), errors: &mut Errors| {
        Tokens::new(source, &sections.clean, &lines, start, end, errors)
    };
    let init = init::read(&mut tokens(sections.init, errors), errors);
    let mut program = tokens(sections.program, errors);
    let (body, constraint) = match sections.arch {
        Arch::X86 | Arch::X86_64 => {
            let body = x86::parse::read(&mut program, sections.arch, errors).map(Body::X86);
            (body, condition::read(&mut program, errors))
        }
        Arch::C => {
            let body = c::parse::read(&mut program, errors).map(Body::C);
            (body, condition::read(&mut tokens(sections.constraint, errors), errors))
        }
    };
    let name = if sections.name == "--" { stem.to_string() } else { sections.name };
    let (arch, doc, metadata) = (sections.arch, sections.doc, sections.metadata);
    Some(File { arch, name, doc, metadata, init: init?, body: body?, constraint })
}
