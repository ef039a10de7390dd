//! The checker: names, types, layouts, conversions and constants of a C program.
//!
//! A function that reports an error returns `None`. Its caller continues with the next part. Thus
//! each error is reported once and does not hide other errors.
//!
//! Declarations at file scope are checked in text order. Bodies of functions are checked afterwards
//! and on demand: `main`, and every function that checked code mentions. A library file may thus
//! contain helpers that use unsupported features, as long as the program does not use them.
//!
//! DIVERGENCE: a body may use names that the file declares after it.

mod assembly;
mod atomics;
mod bits;
mod calls;
mod constants;
mod conversions;
mod declarations;
mod expressions;
mod functions;
mod initializers;
mod intrinsics;
mod layout;
mod library;
mod members;
mod operators;
mod records;
mod scopes;
mod statements;
#[cfg(test)]
mod tests;
mod type_names;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{Diagnostic, Diagnostics, Severity, Span};

use super::ast;
use super::codes;
use super::source_map::SourceMap;
use super::typed::{
    Field, Function, FunctionId, FunctionType, Program, Record, RecordId, Type, TypeKind, Variable,
};
use crate::fp::suggest::did_you_mean;
use functions::Body;
use scopes::Scopes;

/// The number of elements of an array whose size is not known yet.
const UNSIZED: u64 = u64::MAX;

/// The number of errors after which the checker reports no more.
const ERRORS: usize = 200;

/// A `struct` or `union`.
#[derive(Debug)]
struct RecordInfo {
    name: String,
    is_union: bool,
    span: Span,
    /// The fields, with bit fields.
    fields: Vec<FieldInfo>,
    /// The size and alignment. `None` as long as the record is incomplete.
    layout: Option<(u64, u64)>,
    /// Whether the definition is being read.
    open: bool,
    /// Whether the definition had an error. Unknown fields are then not reported.
    invalid: bool,
}

/// A field of a record.
#[derive(Debug)]
struct FieldInfo {
    name: String,
    ty: Type,
    offset: u64,
    /// The index in the typed tree. `None` for a bit field.
    index: Option<u32>,
    span: Span,
}

/// A function of the unit.
#[derive(Debug)]
struct FunctionInfo<'a> {
    name: String,
    ty: FunctionType,
    span: Span,
    definition: Option<&'a ast::FunctionDefinition>,
    /// The number in the typed tree, once the function is used.
    id: Option<FunctionId>,
}

/// A variable with static storage duration.
#[derive(Debug)]
struct Global {
    variable: Variable,
    /// Whether there is a definition, not only an `extern` declaration.
    defined: bool,
    /// Whether an error was reported. It is reported once.
    invalid: bool,
}

/// The state of the checker.
struct Checker<'a> {
    sources: &'a SourceMap,
    diagnostics: Diagnostics,
    scopes: Scopes,
    records: Vec<RecordInfo>,
    globals: Vec<Global>,
    /// The names of globals that are not names of C: `static` locals and string literals.
    made_names: BTreeSet<String>,
    /// The globals of string literals.
    strings: BTreeMap<Vec<u8>, u32>,
    functions: Vec<FunctionInfo<'a>>,
    /// The used functions, by number in the typed tree.
    used: Vec<usize>,
    /// The current function. At file scope, a body that is thrown away.
    body: Body,
    /// The nesting depth of operands that are not evaluated, as in `sizeof`.
    unevaluated: u32,
}

/// Checks a translation unit. Returns `None` exactly if it reported an error. Diagnostics have
/// positions in the main file.
///
/// ```
/// use fencepost_frontends::c::{PreprocessOptions, check::check, parse_unit};
/// use fencepost_ir::Diagnostics;
/// let mut diagnostics = Diagnostics::new();
/// let text = "int x; int unused(void) { return missing; } int main(void) { return x; }";
/// let (map, unit) = parse_unit("a.c", text, &PreprocessOptions::default(), &mut diagnostics);
/// let program = check(&unit, &map, &mut diagnostics).expect("no errors");
/// assert_eq!(program.globals[0].name, "x");
/// assert_eq!(program.functions.len(), 1);
/// ```
pub fn check(
    unit: &ast::Unit,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<Program> {
    let mut checker = Checker::new(sources);
    checker.unit(unit);
    let main = checker.main();
    // Bodies use the sizes of globals, and add globals of their own.
    checker.complete_globals(0);
    let from_file = checker.globals.len();
    let functions = checker.reachable_functions();
    checker.complete_globals(from_file);
    let failed = checker.diagnostics.has_errors();
    checker.report(diagnostics);
    if failed {
        return None;
    }
    Some(checker.program(functions, main))
}

impl<'a> Checker<'a> {
    fn new(sources: &'a SourceMap) -> Self {
        Checker {
            sources,
            diagnostics: Diagnostics::new(),
            scopes: Scopes::new(),
            records: Vec::new(),
            globals: Vec::new(),
            made_names: BTreeSet::new(),
            strings: BTreeMap::new(),
            functions: Vec::new(),
            used: Vec::new(),
            body: Body::default(),
            unevaluated: 0,
        }
    }

    fn unit(&mut self, unit: &'a ast::Unit) {
        for item in &unit.items {
            match item {
                ast::Item::Declaration(declaration) => {
                    self.declaration(declaration, &mut Vec::new());
                }
                ast::Item::Function(definition) => self.function_definition(definition),
                ast::Item::StaticAssert { condition, .. } => self.static_assert(condition),
            }
        }
    }

    /// Returns the number of `main`, or reports that there is none.
    fn main(&mut self) -> Option<FunctionId> {
        let main = self.functions.iter().position(|f| f.name == "main" && f.definition.is_some());
        let Some(main) = main else {
            let start = Span { line: 1, column: 1, ..Span::default() };
            self.error(codes::NO_MAIN, start, "the program has no function `main`")
                .hint("add `int main(void) { ... }` that creates the threads");
            return None;
        };
        Some(self.function_id(main))
    }

    /// Checks the bodies of all functions that are used, and those that they use.
    fn reachable_functions(&mut self) -> Vec<Function> {
        let mut functions = Vec::new();
        while let Some(&index) = self.used.get(functions.len()) {
            let function = self.function_body(index);
            functions.push(function);
        }
        functions
    }

    fn program(self, functions: Vec<Function>, main: Option<FunctionId>) -> Program {
        let records = self.records.into_iter().map(finished_record).collect();
        let globals = self.globals.into_iter().map(|global| global.variable).collect();
        Program { records, globals, functions, main }
    }

    fn record(&self, id: RecordId) -> &RecordInfo {
        &self.records[id.0 as usize]
    }

    /// Adds an error. The result allows adding details.
    fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.diagnostics.error(code, span, message)
    }

    /// Returns a hint for an unknown name.
    fn suggestion(&self, name: &str, known: &[&str]) -> Option<String> {
        did_you_mean(name, known.iter().copied(), self.diagnostics.len())
    }

    /// Reports the diagnostics with positions in the main file, and at most [`ERRORS`] errors.
    fn report(&self, diagnostics: &mut Diagnostics) {
        let mut shown = Diagnostics::new();
        let mut errors = 0;
        for found in self.diagnostics.iter() {
            match found.severity {
                Severity::Error => errors += 1,
                Severity::Warning => {}
            }
            if errors > ERRORS {
                let message = format!("there are more than {ERRORS} errors");
                shown
                    .error(codes::TOO_MANY_ERRORS, found.span, message)
                    .label("this error and later errors are not shown")
                    .hint("fix the first errors and try again");
                break;
            }
            *shown.error(found.code, found.span, "") = found.clone();
        }
        self.sources.report(&shown, diagnostics);
    }
}

fn finished_record(info: RecordInfo) -> Record {
    let (size, alignment) = info.layout.unwrap_or((0, 1));
    let fields = info.fields.into_iter().filter(|field| field.index.is_some());
    let fields = fields.map(|field| Field { name: field.name, ty: field.ty, offset: field.offset });
    Record { name: info.name, is_union: info.is_union, fields: fields.collect(), size, alignment }
}

/// Returns `int`.
fn int() -> Type {
    Type::int(32, true)
}

/// Returns `long`, the type of indexes and differences of pointers.
fn long() -> Type {
    Type::int(64, true)
}

/// Returns `void`.
fn void() -> Type {
    Type::plain(TypeKind::Void)
}

/// Returns `void *`.
fn void_pointer() -> Type {
    Type::pointer(void())
}
