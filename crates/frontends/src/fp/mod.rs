//! The language of `.fp` files.
//!
//! The way of a source text:
//!
//! | step | file | result |
//! |---|---|---|
//! | tokens, comments beside them | [`lexer`] | [`lexer::Lexed`] |
//! | syntax | [`parser`] | [`ast::File`] |
//! | names, types, jumps, clients | [`names`], [`check`](mod@check), [`client`] | [`tree::Unit`] |
//! | code for each thread | [`lower`](mod@lower) | [`Problem`] |
//!
//! Beside it: [`mod@format`] prints a syntax tree, [`generate`] lists the clients of a library,
//! `fences` says which fences there are.
//!
//! A text with errors in one step does not go on to the next: what follows from a mistake is noise.
//! With one exception: what could be parsed is checked although other parts could not, and the names
//! in those parts count as declared ([`ast::File::lost`]).

pub mod ast;
pub mod check;
pub mod client;
pub mod codes;
pub mod consts;
mod fences;
pub mod format;
pub mod generate;
pub mod lexer;
pub mod limits;
pub mod lower;
pub mod messages;
pub mod names;
pub mod parser;
pub mod suggest;
pub mod tree;
pub mod types;

#[cfg(test)]
mod interpret;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

use fencepost_ir::{Diagnostics, Placement, Problem, Program, Span, Written};

use crate::edit::{EditError, TextEdit, blocks};
use crate::{FenceSyntax, Frontend, Request};

/// The front end for `.fp` files.
#[derive(Clone, Copy, Debug, Default)]
pub struct FpFrontend;

impl Frontend for FpFrontend {
    fn name(&self) -> &'static str {
        "fp"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["fp"]
    }

    fn lower_for(
        &self,
        source: &str,
        request: &Request<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Problem>> {
        lower_for(source, request, diagnostics)
    }

    fn fences(&self, _source: &str) -> FenceSyntax {
        fences::syntax()
    }

    fn insert(
        &self,
        source: &str,
        program: &Program,
        placement: &Placement,
        written: Written,
    ) -> Result<Vec<TextEdit>, EditError> {
        blocks::insert(&fences::syntax(), source, program, placement, written)
    }

    fn format(&self, source: &str) -> Option<String> {
        format::format(source, &mut Diagnostics::new())
    }
}

/// The problems a source text describes: one for each `client` line, or a single one with an empty
/// name. `None` exactly when an error was reported.
///
/// # Panics
/// When the result is not well-formed, which is a bug of this crate.
pub fn lower(source: &str, diagnostics: &mut Diagnostics) -> Option<Vec<Problem>> {
    lower_for(source, &Request::default(), diagnostics)
}

/// The same, as asked for.
///
/// # Panics
/// When the result is not well-formed, which is a bug of this crate.
pub fn lower_for(
    source: &str,
    request: &Request<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Problem>> {
    let mut own = Diagnostics::new();
    let problems = steps(source, request, &mut own);
    let failed = own.has_errors();
    messages::hand_over(&own, diagnostics);
    if failed { None } else { problems }
}

fn steps(
    source: &str,
    request: &Request<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Problem>> {
    let file = parse_partly(source, diagnostics)?;
    let unit = check::check(&file, source, request.clients, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let problems = lower::lower(&unit, source, request.places, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    for problem in &problems {
        if let Err(broken) = fencepost_ir::validate::validate(problem) {
            let broken: Vec<String> = broken.iter().take(10).map(ToString::to_string).collect();
            panic!("the front end made a program that is not well-formed: {}", broken.join("; "));
        }
    }
    Some(problems)
}

/// The syntax tree of a source text; `None` exactly when an error was reported.
pub fn parse(source: &str, diagnostics: &mut Diagnostics) -> Option<ast::File> {
    let mut own = Diagnostics::new();
    let file = parse_partly(source, &mut own);
    let failed = own.has_errors();
    messages::hand_over(&own, diagnostics);
    file.filter(|_| !failed)
}

/// The syntax tree of what could be parsed, if that is enough to look for further errors.
fn parse_partly(source: &str, diagnostics: &mut Diagnostics) -> Option<ast::File> {
    if source.len() > limits::SOURCE {
        let message = format!("this file has {} bytes", source.len());
        diagnostics
            .error(codes::TOO_LARGE, Span { line: 1, column: 1, ..Span::default() }, message)
            .label(format!("at most {} are allowed", limits::SOURCE));
        return None;
    }
    let lexed = lexer::lex(source, diagnostics);
    let file = parser::parse(source, &lexed, diagnostics);
    file.filter(|_| !lexed.lossy)
}
