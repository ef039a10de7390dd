//! Resolution and typing of expressions, bodies and conditions.
//!
//! Each function returns `None` after it has reported an error, and callers go on with the next part,
//! so that one mistake gives one message and hides no other.

mod body;
mod builtin;
mod condition;
mod expr;
mod gap;
mod infer;
mod jump;
mod place;
mod recursion;
mod stmt;
mod unit;

use std::collections::BTreeMap;

use fencepost_ir::{Diagnostics, Span, Value};

pub use unit::check;

use super::ast;
use super::codes;
use super::names::{Global, Globals};
use super::suggest::hint;
use super::tree::{Expr, ExprKind, Local};
use super::types::{LocalId, ProcId, TemplateId, Ty, VarTy, advice};
use jump::{LabelPlace, Region};

/// Where an expression stands, which decides what it may mention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Where a constant is needed.
    Constant,
    /// In the body of a thread, a procedure, or `init`.
    Body,
    /// In a condition or `observe`; the flag tells whether registers may be mentioned.
    Condition {
        /// Whether registers may be mentioned.
        registers: bool,
    },
}

/// What kind of body is being checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BodyKind {
    Init,
    Thread,
    Procedure(Option<VarTy>),
}

/// A body's registers while it is being checked.
#[derive(Clone, Debug)]
struct Register {
    local: Local,
    /// Whether the type is known yet.
    typed: bool,
    /// Whether it is read somewhere.
    read: bool,
    /// Whether it is a parameter.
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
    /// The template's parameter.
    param: Option<&'a ast::Name>,
    /// The blocks and loops around the statement at hand.
    regions: Vec<Region>,
    labels: BTreeMap<String, LabelPlace>,
    /// Procedures called, with the first call of each.
    calls: BTreeMap<ProcId, Span>,
    /// Whether an `assert` was seen.
    asserts: bool,
    /// In conditions: the registers of each template.
    threads: &'a [Vec<Local>],
    /// In conditions: the registers mentioned.
    mentioned: Vec<(TemplateId, LocalId)>,
}

impl<'a> Checker<'a> {
    /// A checker for one scope.
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
            registers: Vec::new(),
            by_name: BTreeMap::new(),
            param: None,
            regions: Vec::new(),
            labels: BTreeMap::new(),
            calls: BTreeMap::new(),
            asserts: false,
            threads: &[],
            mentioned: Vec::new(),
        }
    }

    /// The source text of a span, short enough for a message.
    fn text(&self, span: Span) -> String {
        let text = span.text(self.source);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.chars().count() > 40 {
            let start: String = line.chars().take(37).collect();
            return format!("{start}...");
        }
        line
    }

    /// Checks that a value has the type that is wanted.
    fn coerce(&mut self, expr: Expr, wanted: Ty) -> Option<Expr> {
        if expr.ty.fits(wanted) {
            return Some(expr);
        }
        self.mismatch(&expr, wanted);
        None
    }

    fn mismatch(&mut self, expr: &Expr, wanted: Ty) {
        let constant = if let ExprKind::Const(value) = expr.kind { Some(value) } else { None };
        let hint = advice(expr.ty, wanted, constant, &self.text(expr.span));
        let (found, wanted) = (self.globals.show(expr.ty), self.globals.show(wanted));
        self.diagnostics
            .error(codes::TYPE_MISMATCH, expr.span, format!("expected {wanted}, found {found}"))
            .label(format!("this is {found}"))
            .hint = hint;
    }

    fn unknown_name(&mut self, name: &str, span: Span) {
        // `d1` may be the result of an operation that could not be parsed.
        let result = name.get(1..).is_some_and(|n| n.parse::<u32>().is_ok());
        if self.globals.is_lost(name) {
            return;
        }
        if result && self.globals.lost.is_some() && matches!(self.scope, Scope::Condition { .. }) {
            return;
        }
        let mut near = {
            let globals = self.globals.names(Global::is_value);
            let locals = self.by_name.keys().map(String::as_str);
            let param = self.param.iter().map(|p| p.text.as_str());
            hint(name, globals.chain(locals).chain(param), self.diagnostics.len())
        };
        if self.scope == Scope::Body
            && let Some(body) = self.globals.registers.get(name)
        {
            near = Some(format!(
                "`{name}` is a register of `{body}`; declare it with `shared` to share it"
            ));
        }
        let (message, label) = match self.scope {
            Scope::Body => (format!("`{name}` is never given a value"), "unknown name"),
            Scope::Constant => (format!("there is no constant `{name}`"), "unknown constant"),
            Scope::Condition { .. } => (format!("there is no location `{name}`"), "unknown name"),
        };
        let diagnostic = self.diagnostics.error(codes::UNKNOWN_NAME, span, message);
        diagnostic.label(label).hint = near;
        if let Some(later) = self.globals.constants.get(name)
            && self.scope == Scope::Constant
        {
            diagnostic.related(*later, "declared later").hint("declare it before it is used");
        }
    }

    fn constant(&self, value: Value, ty: Ty, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(value), ty, span, pure: true }
    }
}
