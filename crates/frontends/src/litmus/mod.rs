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
use wrong::Wrong;

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
    let test = parse(source, stem).and_then(|file| lower::lower(&file, source, places));
    match test {
        Ok(test) => {
            for (span, message) in &test.untouched {
                diagnostics.warning(wrong::UNTOUCHED, *span, message.clone());
            }
            Some(test)
        }
        Err(wrong) => {
            wrong.tell(diagnostics);
            None
        }
    }
}

/// The syntax tree of a text.
pub fn parse(source: &str, stem: &str) -> Result<File, Wrong> {
    let lines = Lines::new(source);
    if source.len() > limits::SOURCE {
        let message = format!("this file has {} bytes", source.len());
        let allowed = format!("at most {} are allowed", limits::SOURCE);
        return Err(Wrong::too_large(lines.span(0, 0), message).label(allowed));
    }
    let sections = sections::sections(source, &lines)?;
    let tokens = |(start, end)| Tokens::new(source, &sections.clean, &lines, start, end);
    let init = init::read(&mut tokens(sections.init)?)?;
    let mut program = tokens(sections.program)?;
    let (body, constraint) = match sections.arch {
        Arch::X86 | Arch::X86_64 => {
            let body = Body::X86(x86::parse::read(&mut program, sections.arch)?);
            (body, condition::read(&mut program)?)
        }
        Arch::C => {
            let body = Body::C(c::parse::read(&mut program)?);
            (body, condition::read(&mut tokens(sections.constraint)?)?)
        }
    };
    let name = if sections.name == "--" { stem.to_string() } else { sections.name };
    let (arch, doc, metadata) = (sections.arch, sections.doc, sections.metadata);
    Ok(File { arch, name, doc, metadata, init, body, constraint })
}
