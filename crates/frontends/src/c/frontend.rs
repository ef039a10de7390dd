//! The front end for `.c` files.

use fencepost_ir::{Diagnostics, Placement, Problem, Program, WrittenFences};

use super::check::check;
use super::lower::lower;
use super::parse::parse_unit;
use super::preprocess::PreprocessOptions;
use crate::edit::{EditError, TextEdit};
use crate::{FenceSyntax, Frontend, Request};

/// The front end for `.c` files.
#[derive(Clone, Copy, Debug, Default)]
pub struct CFrontend;

impl Frontend for CFrontend {
    fn name(&self) -> &'static str {
        "c"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["c"]
    }

    fn lower_for(
        &self,
        source: &str,
        request: &Request<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Problem>> {
        compile(source, &PreprocessOptions::default(), request, diagnostics).map(|p| vec![p])
    }

    fn fences(&self, _source: &str) -> FenceSyntax {
        FenceSyntax {
            language: "C",
            fences: Vec::new(),
            drain: None,
            has_blocks: true,
            located_by_thread: false,
        }
    }

    fn insert(
        &self,
        _source: &str,
        _program: &Program,
        _placement: &Placement,
        _written: WrittenFences,
    ) -> Result<Vec<TextEdit>, EditError> {
        Err(EditError::Unreadable)
    }
}

/// Compiles a C program. Returns `None` exactly when it reported an error.
///
/// # Panics
/// If the result is not well-formed. That is a bug of this crate.
pub fn compile(
    source: &str,
    options: &PreprocessOptions<'_>,
    request: &Request<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Problem> {
    let mut own = Diagnostics::new();
    let (map, unit) = parse_unit("main.c", source, options, &mut own);
    let mut problem = None;
    if !own.has_errors()
        && let Some(program) = check(&unit, &map, &mut own)
    {
        let mut found = Diagnostics::new();
        problem = lower(&program, &map, request, &mut found);
        map.report(&found, &mut own);
    }
    let failed = own.has_errors();
    diagnostics.append(own);
    let problem = problem.filter(|_| !failed)?;
    if let Err(broken) = fencepost_ir::validate::validate(&problem) {
        let broken: Vec<String> = broken.iter().take(10).map(ToString::to_string).collect();
        panic!("the C front end built a program that is not well-formed: {}", broken.join("; "));
    }
    Some(problem)
}
