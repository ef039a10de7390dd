//! The checker: name resolution and type checking of expressions, bodies and conditions.
//!
//! A function that reports an error returns `None`. Its caller continues with the next part. Thus
//! each error is reported once and does not hide other errors.

mod array;
mod body;
mod builtin;
mod condition;
mod control_point;
mod convert;
mod either;
mod expr;
mod gap;
mod infer;
mod jump;
mod order;
mod place;
mod recursion;
mod stmt;
mod switch;
mod unit;
mod wait;

use std::collections::BTreeMap;

use fencepost_ir::{Diagnostics, Span, Value};

pub(super) use convert::check_constant;
pub use unit::check;

use super::ast;
use super::codes;
use super::foreign;
use super::names::{Global, Globals};
use super::suggest::did_you_mean;
use super::tree::{Expr, ExprKind, LabelName, Local};
use super::types::{LocalId, ProcId, TemplateId, Ty, VarTy, conversion_hint};
use array::LocalArray;
use jump::{LabelSite, Region};
use wait::Waits;

/// The context of an expression, which determines the names it can mention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// A constant expression.
    Constant,
    /// The body of a thread, a procedure or `init`.
    Body,
    /// A condition or `observe`.
    Condition {
        /// Whether the expression can mention registers.
        registers: bool,
    },
}

/// The kind of the current body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BodyKind {
    Init,
    Finally,
    Thread,
    Procedure(Option<VarTy>),
}

/// A register of the current body.
#[derive(Clone, Debug)]
struct Register {
    local: Local,
    /// Whether the type is known.
    typed: bool,
    /// Whether some expression reads the register.
    read: bool,
    /// Whether the register is a parameter.
    param: bool,
}

/// Checks expressions and statements in one scope.
pub struct Checker<'a> {
    globals: &'a Globals,
    source: &'a str,
    diagnostics: &'a mut Diagnostics,
    scope: Scope,
    kind: BodyKind,
    registers: Vec<Register>,
    by_name: BTreeMap<String, LocalId>,
    arrays: BTreeMap<String, LocalArray>,
    /// The parameter of the thread template.
    param: Option<&'a ast::Name>,
    /// The blocks and loops that enclose the current statement.
    regions: Vec<Region>,
    labels: BTreeMap<String, LabelSite>,
    /// The called procedures, each with the position of its first call.
    calls: BTreeMap<ProcId, Span>,
    waits: Waits,
    /// Whether the current expression is the guard of a branch of `either`.
    in_guard: bool,
    /// Whether the body contains an `assert`.
    asserts: bool,
    /// In conditions: the registers of each template.
    threads: &'a [Vec<Local>],
    /// By template: the labels. For conditions.
    thread_labels: &'a [Vec<LabelName>],
    /// In conditions: the mentioned registers.
    mentioned: Vec<(TemplateId, LocalId)>,
}

impl<'a> Checker<'a> {
    /// Creates a checker for one scope.
    pub fn new(
        globals: &'a Globals,
        source: &'a str,
        diagnostics: &'a mut Diagnostics,
        scope: Scope,
    ) -> Self {
        Checker {
            globals,
            source,
            diagnostics,
            scope,
            kind: BodyKind::Init,
            in_guard: false,
            registers: Vec::new(),
            by_name: BTreeMap::new(),
            arrays: BTreeMap::new(),
            param: None,
            regions: Vec::new(),
            labels: BTreeMap::new(),
            calls: BTreeMap::new(),
            waits: Waits::default(),
            asserts: false,
            threads: &[],
            thread_labels: &[],
            mentioned: Vec::new(),
        }
    }

    /// Returns the source text of a span, shortened for messages.
    fn text(&self, span: Span) -> String {
        let text = span.text(self.source);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.chars().count() > 40 {
            let start: String = line.chars().take(37).collect();
            return format!("{start}...");
        }
        line
    }

    fn mismatch(&mut self, expr: &Expr, expected: Ty) {
        let constant = if let ExprKind::Const(value) = expr.kind { Some(value) } else { None };
        let hint = conversion_hint(expr.ty, expected, constant, &self.text(expr.span));
        self.mismatch_hint(expr, expected, hint);
    }

    fn mismatch_hint(&mut self, expr: &Expr, expected: Ty, hint: Option<String>) {
        let (found, expected) = (self.globals.show(expr.ty), self.globals.show(expected));
        self.diagnostics
            .error(codes::TYPE_MISMATCH, expr.span, format!("expected {expected}, found {found}"))
            .label(format!("this is {found}"))
            .hint = hint;
    }

    fn unknown_name(&mut self, name: &str, span: Span) {
        // `d1` may be the result of an operation in an unparsed part.
        let result = name.get(1..).is_some_and(|n| n.parse::<u32>().is_ok());
        if self.globals.is_in_unparsed(name) {
            return;
        }
        if result
            && self.globals.unparsed_names.is_some()
            && matches!(self.scope, Scope::Condition { .. })
        {
            return;
        }
        let mut near = {
            let globals = self.globals.names(Global::is_value);
            let locals = self.by_name.keys().map(String::as_str);
            let param = self.param.iter().map(|p| p.text.as_str());
            did_you_mean(name, globals.chain(locals).chain(param), self.diagnostics.len())
        };
        if self.scope == Scope::Body
            && let Some(body) = self.globals.registers.get(name)
        {
            near = Some(format!(
                "`{name}` is a register of `{body}`; declare it with `shared` to share it"
            ));
        }
        let (message, label, declare) = match self.scope {
            Scope::Body => (
                format!("there is no location, constant or register `{name}`"),
                "unknown name",
                format!("declare it with `shared int {name};`, or assign a value to it first"),
            ),
            Scope::Constant => (
                format!("there is no constant `{name}`"),
                "unknown constant",
                format!("declare it: `const {name} = 1;`"),
            ),
            Scope::Condition { .. } => (
                format!("there is no location `{name}`"),
                "unknown name",
                format!(
                    "declare it with `shared int {name};`, or write `p.{name}` for a register of `p`"
                ),
            ),
        };
        let foreign = foreign::value(name).map(str::to_string);
        let diagnostic = self.diagnostics.error(codes::UNKNOWN_NAME, span, message);
        diagnostic.label(label).hint(foreign.or(near).unwrap_or(declare));
        if let Some(later) = self.globals.constants.get(name)
            && self.scope == Scope::Constant
        {
            diagnostic
                .related(*later, "declared later")
                .hint(format!("move the declaration of `{name}` before this use"));
        }
    }

    fn constant(&self, value: Value, ty: Ty, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(value), ty, span, pure: true }
    }
}
