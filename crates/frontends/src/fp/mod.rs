//! The front end of the `.fp` language.
//!
//! A source text passes through these steps:
//!
//! | step | module | result |
//! |---|---|---|
//! | tokens and comments | [`lexer`] | [`lexer::Lexed`] |
//! | syntax | [`parser`] | [`ast::File`] |
//! | names, types, jumps, clients | [`names`], [`check`](mod@check), [`client`] | [`tree::Unit`] |
//! | code of each thread | [`lower`](mod@lower) | [`Problem`] |
//!
//! Other modules: [`mod@format`] formats a source text, [`generate`] enumerates clients of a
//! library, `fences` lists the fences of the language, `foreign` has hints for words of other
//! languages.
//!
//! If a step reports errors, later steps do not run, because their errors would be consequences of
//! the first ones. There is one exception: if some statements or items have syntax errors, the
//! others are checked. Every name in an unparsed part counts as declared
//! ([`ast::File::unparsed_names`]).

pub mod ast;
pub mod check;
pub mod client;
pub mod codes;
pub mod consts;
mod fences;
mod foreign;
pub mod format;
pub mod generate;
mod integers;
pub mod lexer;
pub mod limits;
pub mod lower;
pub mod messages;
pub mod names;
pub mod parser;
pub mod suggest;
pub mod tree;
pub mod types;
pub mod width;

#[cfg(test)]
mod c_like_tests;
#[cfg(test)]
mod interpret;
#[cfg(test)]
mod random_program;
#[cfg(test)]
mod tests;

use fencepost_ir::{Diagnostics, Placement, Problem, Program, Span, WrittenFences};

use crate::edit::blocks::{self, FileText};
use crate::edit::{EditError, FileEdits};
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

    fn fences(&self, _source: &str, _request: &Request<'_>) -> FenceSyntax {
        fences::syntax()
    }

    fn insert(
        &self,
        source: &str,
        request: &Request<'_>,
        program: &Program,
        placement: &Placement,
        written: WrittenFences,
    ) -> Result<Vec<FileEdits>, EditError> {
        let file = FileText { text: source, start: 0 };
        let edits = blocks::insert(&fences::syntax(), file, program, placement, written)?;
        Ok(FileEdits::of_main_file(request.name, source, edits))
    }

    fn format(&self, source: &str) -> Option<String> {
        format::format(source, &mut Diagnostics::new())
    }
}

/// Lowers a source text to problems: one for each `client` line, or a single problem with an empty
/// name. Returns `None` exactly when it reported an error.
///
/// # Panics
/// If the result is not well-formed. That is a bug of this crate.
pub fn lower(source: &str, diagnostics: &mut Diagnostics) -> Option<Vec<Problem>> {
    lower_for(source, &Request::default(), diagnostics)
}

/// Lowers a source text with the given options. See [`Frontend::lower_for`].
///
/// # Panics
/// If the result is not well-formed. That is a bug of this crate.
pub fn lower_for(
    source: &str,
    request: &Request<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Problem>> {
    let mut own = Diagnostics::new();
    let problems = compile(source, request, &mut own);
    let failed = own.has_errors();
    messages::append_limited(&own, diagnostics);
    if failed { None } else { problems }
}

fn compile(
    source: &str,
    request: &Request<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Problem>> {
    let file = parse_partly(source, diagnostics)?;
    let unit = check::check(&file, source, request, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let problems = lower::lower(&unit, source, request, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    for problem in &problems {
        if let Err(broken) = fencepost_ir::validate::validate(problem) {
            let broken: Vec<String> = broken.iter().take(10).map(ToString::to_string).collect();
            panic!("the front end built a program that is not well-formed: {}", broken.join("; "));
        }
    }
    Some(problems)
}

/// Parses a source text. Returns `None` exactly when it reported an error.
pub fn parse(source: &str, diagnostics: &mut Diagnostics) -> Option<ast::File> {
    let mut own = Diagnostics::new();
    let file = parse_partly(source, &mut own);
    let failed = own.has_errors();
    messages::append_limited(&own, diagnostics);
    file.filter(|_| !failed)
}

/// Parses a source text and leaves out the parts with syntax errors. Returns `None` if the rest
/// cannot be checked reliably.
fn parse_partly(source: &str, diagnostics: &mut Diagnostics) -> Option<ast::File> {
    if source.len() > limits::SOURCE {
        let message = format!("this file is too large: {} bytes", source.len());
        diagnostics
            .error(codes::TOO_LARGE, Span { line: 1, column: 1, ..Span::default() }, message)
            .label(format!("the limit is {} bytes", limits::SOURCE));
        return None;
    }
    let lexed = lexer::lex(source, diagnostics);
    let file = parser::parse(source, &lexed, diagnostics);
    file.filter(|_| !lexed.lossy)
}
