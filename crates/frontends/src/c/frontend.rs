//! The front end for `.c` files.

use fencepost_ir::{Diagnostics, Placement, Problem, Program, WrittenFences};

use super::check::check;
use super::fences;
use super::lower::lower;
use super::parse::parse_unit;
use super::preprocess::preprocess;
use super::source_map::{FileKind, SourceMap};
use super::stack::on_large_stack;
use crate::edit::blocks::{self, FileText};
use crate::edit::{EditError, FileEdits};
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
        compile(source, request, diagnostics).map(|problem| vec![problem])
    }

    fn fences(&self, source: &str, request: &Request<'_>) -> FenceSyntax {
        fences::syntax(&source_map(source, request))
    }

    fn insert(
        &self,
        source: &str,
        request: &Request<'_>,
        program: &Program,
        placement: &Placement,
        written: WrittenFences,
    ) -> Result<Vec<FileEdits>, EditError> {
        let map = source_map(source, request);
        let syntax = fences::syntax(&map);
        let mut all = Vec::new();
        for file in map.files().iter().filter(|file| file.is_editable) {
            let text = FileText { text: &file.text, start: file.start };
            let edits = blocks::insert(&syntax, text, program, placement, written)?;
            let (name, is_main) = (file.name.clone(), file.kind == FileKind::Main);
            all.push(FileEdits { name, is_main, text: file.text.clone(), edits });
        }
        Ok(all)
    }
}

/// Returns the files of a source, with the offsets that the spans of its program have. The
/// preprocessor is run again, because a program does not contain the texts of its files.
fn source_map(source: &str, request: &Request<'_>) -> SourceMap {
    on_large_stack(|| preprocess(main_name(request), source, &request.preprocessing).map)
}

fn main_name<'a>(request: &Request<'a>) -> &'a str {
    if request.name.is_empty() { "main.c" } else { request.name }
}

/// Compiles a C program. Returns `None` exactly when it reported an error.
///
/// # Panics
/// If the result is not well-formed. That is a bug of this crate.
pub fn compile(
    source: &str,
    request: &Request<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Problem> {
    on_large_stack(|| compile_on_this_stack(source, request, diagnostics))
}

fn compile_on_this_stack(
    source: &str,
    request: &Request<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Problem> {
    let mut own = Diagnostics::new();
    let (map, unit) = parse_unit(main_name(request), source, &request.preprocessing, &mut own);
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
