//! Checks places: expressions that denote shared locations.

use fencepost_ir::Span;

use super::{Checker, Scope};
use crate::fp::ast::{self, ExprKind as Ast};
use crate::fp::codes;
use crate::fp::names::Global;
use crate::fp::suggest::did_you_mean;
use crate::fp::tree::{Expr, ExprKind, Place, Root};
use crate::fp::types::{Ty, VarTy};

impl Checker<'_> {
    /// Checks a load of `x`, `a[i]` or `n.field`. In conditions also `p.r`.
    pub(super) fn access(&mut self, expr: &ast::Expr) -> Option<Expr> {
        if self.scope == Scope::Constant && !matches!(expr.kind, Ast::Name(_)) {
            self.require_body(expr.span, "accesses");
            return None;
        }
        if let Some(result) = self.thread_register(expr) {
            return result;
        }
        let place = self.place(expr)?;
        let ty = place.ty.ty;
        Some(Expr { kind: ExprKind::Load(place), ty, span: expr.span, pure: false })
    }

    /// Checks an expression that denotes a shared location.
    pub(super) fn place(&mut self, expr: &ast::Expr) -> Option<Place> {
        let span = expr.span;
        if let Ast::Paren(inner) = &expr.kind {
            return self.place(inner);
        }
        if let Ast::Index(base, index) = &expr.kind {
            let (root, ty, len) = self.root(base)?;
            let Some(len) = len else {
                let message = format!("`{}` is not an array", self.text(base.span));
                self.diagnostics
                    .error(codes::ARRAY, base.span, message)
                    .label("cannot be indexed")
                    .hint("remove the index, or declare an array: `shared int a[2];`");
                return None;
            };
            let index = self.index(index, len)?;
            return Some(Place { root, index: Some(Box::new(index)), ty, span });
        }
        let (root, ty, len) = self.root(expr)?;
        if let Some(len) = len {
            let text = self.text(span);
            self.diagnostics
                .error(codes::ARRAY, span, format!("`{text}` is an array"))
                .label(format!("the index is missing; the array has {len} elements"))
                .hint(format!("write an element, for example `{text}[0]`"));
            return None;
        }
        Some(Place { root, index: None, ty, span })
    }

    fn index(&mut self, index: &ast::Expr, len: u32) -> Option<Expr> {
        if !matches!(self.scope, Scope::Condition { .. }) {
            return self.expr_of(index, Ty::Int);
        }
        let value = self.globals.constant_int(index, self.source, self.diagnostics)?;
        if value < 0 || value as u32 >= len {
            self.diagnostics
                .error(codes::ARRAY, index.span, format!("index {value} is out of bounds"))
                .label(format!("the array has {len} elements"))
                .hint(format!("use an index from 0 to {}", len - 1));
            return None;
        }
        Some(self.constant(value, Ty::Int, index.span))
    }

    /// Resolves a variable or field. Returns the type of a location and the number of elements if
    /// it is an array.
    fn root(&mut self, expr: &ast::Expr) -> Option<(Root, VarTy, Option<u32>)> {
        match &expr.kind {
            Ast::Name(name) => {
                if let Some((Global::Shared(id), _)) = self.globals.get(name) {
                    let shared = &self.globals.shared[id.index()];
                    return Some((Root::Shared(id), shared.ty, shared.len));
                }
                self.not_a_location(name, expr.span);
                None
            }
            Ast::Field(base, field) => {
                if let Scope::Condition { registers } = self.scope {
                    let text = self.text(expr.span);
                    // Only conditions on final states can mention registers.
                    let hint = match registers {
                        true => format!("use `finally {{ ... }}`, which can read `{text}`"),
                        false => "copy the field to a location in a thread".into(),
                    };
                    self.diagnostics
                        .error(codes::CONDITION, expr.span, "a condition cannot follow references")
                        .label("not allowed here")
                        .hint(hint);
                    return None;
                }
                if self.is_thread(base) {
                    self.private_register(expr, field);
                    return None;
                }
                let base = self.expr(base)?;
                self.field(base, field)
            }
            Ast::Paren(inner) => self.root(inner),
            Ast::Index(..) => {
                let message = format!("`{}` is not an array", self.text(expr.span));
                self.diagnostics
                    .error(codes::ARRAY, expr.span, message)
                    .label("an element of an array cannot be indexed")
                    .hint("use one index: `a[2 * i + j]`");
                None
            }
            Ast::Number(_)
            | Ast::Bool(_)
            | Ast::Null
            | Ast::Unary(..)
            | Ast::Binary(..)
            | Ast::Select(..)
            | Ast::Call(..)
            | Ast::ChooseRange(_)
            | Ast::ChooseList(_)
            | Ast::New(_)
            | Ast::At(..) => {
                let text = self.text(expr.span);
                self.diagnostics
                    .error(codes::NOT_A_LOCATION, expr.span, format!("`{text}` is not a location"))
                    .label("expected a location, an array element or a field");
                None
            }
        }
    }

    /// Returns whether an expression names a thread: `p` or `p(0)`.
    fn is_thread(&self, expr: &ast::Expr) -> bool {
        let name = match &expr.kind {
            Ast::Name(name) if !self.by_name.contains_key(name) => name,
            Ast::Call(name, _) => &name.text,
            _ => return false,
        };
        !self.globals.is_in_unparsed(name)
            && matches!(self.globals.get(name), Some((Global::Thread(_), _)))
    }

    /// Reports `p.r` outside of a condition.
    fn private_register(&mut self, expr: &ast::Expr, register: &ast::Name) {
        let (text, name) = (self.text(expr.span), &register.text);
        self.diagnostics
            .error(codes::UNKNOWN_NAME, expr.span, format!("`{text}` is not accessible here"))
            .label("registers are private to their thread; only conditions can read them")
            .hint(format!("to share the value, declare a location: `shared int {name};`"));
    }

    fn field(&mut self, of: Expr, field: &ast::Name) -> Option<(Root, VarTy, Option<u32>)> {
        let Ty::Ref(pool) = of.ty else {
            let message = format!("{} has no fields", self.globals.show(of.ty));
            self.diagnostics
                .error(codes::NOT_A_RECORD, of.span, message)
                .label("not a reference to a record")
                .hint("only references to records have fields: `record Node { int value; }`");
            return None;
        };
        let record = &self.globals.records[pool.index()];
        let Some(at) = record.fields.iter().position(|f| f.name == field.text) else {
            let near = did_you_mean(
                &field.text,
                record.fields.iter().map(|f| f.name.as_str()),
                self.diagnostics.len(),
            );
            let message = format!("record `{}` has no field `{}`", record.name, field.text);
            self.diagnostics
                .error(codes::UNKNOWN_FIELD, field.span, message)
                .label("unknown field")
                .hint(near.unwrap_or("correct the name, or add the field to the record".into()));
            return None;
        };
        let info = &record.fields[at];
        Some((Root::Field { pool, field: at, of: Box::new(of) }, info.ty, info.len))
    }

    fn not_a_location(&mut self, name: &str, span: Span) {
        if self.by_name.contains_key(name) {
            let message = format!("`{name}` is a register, not a location");
            self.diagnostics
                .error(codes::NOT_A_LOCATION, span, message)
                .label("a register is private to its thread")
                .hint(format!("declare a location outside of the thread: `shared int {name};`"));
            return;
        }
        match self.globals.get(name) {
            Some((Global::Invalid, _)) => {}
            Some((other, declared)) => {
                let message = format!("`{name}` is {}, not a location", other.describe());
                self.diagnostics
                    .error(codes::NOT_A_LOCATION, span, message)
                    .label("expected a location")
                    .related(declared, "declared here");
            }
            None => {
                let shared = self.globals.names(|g| matches!(g, Global::Shared(_)));
                let near = did_you_mean(name, shared, self.diagnostics.len());
                let message = format!("there is no location `{name}`");
                let declare = || format!("declare it: `shared int {name};`");
                self.diagnostics
                    .error(codes::UNKNOWN_NAME, span, message)
                    .label("unknown location")
                    .hint(near.unwrap_or_else(declare));
            }
        }
    }
}
