//! Checks places: expressions that denote shared locations.

use fencepost_ir::Span;

use super::{Checker, Scope};
use crate::fp::ast::{self, ExprKind as Ast};
use crate::fp::codes;
use crate::fp::names::Global;
use crate::fp::suggest::did_you_mean;
use crate::fp::tree::{Expr, ExprKind, Place, Record, Root, Shared};
use crate::fp::types::{SharedId, Ty, VarTy};
use crate::orders::MemoryOrder;

/// A variable or field, and the indices that are already given.
struct Variable<'e> {
    root: Root,
    /// The type of a location.
    ty: VarTy,
    /// The number of elements of each dimension.
    dims: Vec<u32>,
    /// The indices before the field, for a variable that holds records.
    first: Vec<&'e ast::Expr>,
}

/// Splits `a[i][j]` into `a` and its indices.
pub(super) fn split_indices(expr: &ast::Expr) -> (&ast::Expr, Vec<&ast::Expr>) {
    let (mut base, mut indices) = (expr, Vec::new());
    while let Ast::Index(inner, index) = &base.kind {
        indices.push(&**index);
        base = inner;
    }
    indices.reverse();
    (base, indices)
}

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
        if let Some(result) = self.local_element(expr) {
            let element = result?;
            let ty = element.ty.ty;
            // The check of an index that is not constant is a statement, which may fault.
            let is_constant = |index: &Expr| matches!(index.kind, ExprKind::Const(_));
            let pure = element.indices.iter().all(is_constant);
            return Some(Expr { kind: ExprKind::LocalElement(element), ty, span: expr.span, pure });
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
        let (base, last) = split_indices(expr);
        let Variable { root, ty, dims, first } = self.root(base)?;
        let given: Vec<&ast::Expr> = first.into_iter().chain(last).collect();
        if !self.check_dimensions(base, span, dims.len(), &dims, given.len()) {
            return None;
        }
        let mut indices = Vec::new();
        for (index, len) in given.into_iter().zip(&dims) {
            indices.push(self.index(index, *len)?);
        }
        let order = MemoryOrder::Relaxed;
        let written_orders = Vec::new();
        Some(Place { root, indices, ty, order, failure: order, written_orders, span })
    }

    /// Returns whether the number of indices is right. Reports an error if not.
    pub(super) fn check_dimensions(
        &mut self,
        base: &ast::Expr,
        span: Span,
        expected: usize,
        dims: &[u32],
        found: usize,
    ) -> bool {
        if found == expected {
            return true;
        }
        let text = self.text(base.span);
        if expected == 0 {
            self.diagnostics
                .error(codes::ARRAY, base.span, format!("`{text}` is not an array"))
                .label("cannot be indexed")
                .hint("remove the index, or declare an array: `shared int a[2];`");
        } else if found == 0 {
            let shape: Vec<String> = dims.iter().map(u32::to_string).collect();
            self.diagnostics
                .error(codes::ARRAY, span, format!("`{text}` is an array"))
                .label(format!(
                    "the index is missing; the array has {} elements",
                    shape.join(" x ")
                ))
                .hint(format!("write an element, for example `{text}{}`", "[0]".repeat(expected)));
        } else {
            let plural = if expected == 1 { "index" } else { "indices" };
            self.diagnostics
                .error(codes::ARRAY, span, format!("`{text}` has {expected} {plural}, not {found}"))
                .label("wrong number of indices")
                .hint(format!("write an element, for example `{text}{}`", "[0]".repeat(expected)));
        }
        false
    }

    /// Checks an index. A constant index outside the array is an error in conditions.
    pub(super) fn index(&mut self, index: &ast::Expr, len: u32) -> Option<Expr> {
        if !matches!(self.scope, Scope::Condition { .. }) {
            return self.expr_of(index, Ty::Int);
        }
        let value = self.globals.constant_int(index, self.source, self.diagnostics)?;
        if !(0..i64::from(len)).contains(&value) {
            self.diagnostics
                .error(codes::ARRAY, index.span, format!("index {value} is out of bounds"))
                .label(format!("the array has {len} elements"))
                .hint(format!("use an index from 0 to {}", len - 1));
            return None;
        }
        Some(self.constant(value, Ty::Int, index.span))
    }

    /// Resolves a variable or field, without the indices after it.
    fn root<'e>(&mut self, expr: &'e ast::Expr) -> Option<Variable<'e>> {
        match &expr.kind {
            Ast::Name(name) => {
                if let Some((Global::Shared(id), _)) = self.globals.get(name) {
                    let Shared { ty, dims, .. } = &self.globals.shared[id.index()];
                    let root = Root::Shared(id);
                    return Some(Variable { root, ty: *ty, dims: dims.clone(), first: vec![] });
                }
                self.not_a_location(name, expr.span);
                None
            }
            Ast::Field(base, field) => {
                if let Some(found) = self.record_var_field(base, field) {
                    return found;
                }
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
            Ast::Index(..)
            | Ast::Number(_)
            | Ast::Bool(_)
            | Ast::Null
            | Ast::Unary(..)
            | Ast::Binary(..)
            | Ast::Select(..)
            | Ast::Call(..)
            | Ast::Method(..)
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

    /// Resolves a field of a variable that holds records: `ring[i].data`. Returns `None` if the
    /// base is something else.
    fn record_var_field<'e>(
        &mut self,
        base: &'e ast::Expr,
        field: &ast::Name,
    ) -> Option<Option<Variable<'e>>> {
        let (name, first) = split_indices(base);
        let Ast::Name(text) = &name.kind else {
            return None;
        };
        let Some((Global::RecordVar(at), _)) = self.globals.get(text) else {
            return None;
        };
        let globals = self.globals;
        let variable = &globals.record_vars[at];
        let record = &globals.value_records[variable.record];
        let (expected, found) = (variable.dims.len(), first.len());
        if !self.check_dimensions(name, base.span, expected, &variable.dims, found) {
            return Some(None);
        }
        let Some(field) = self.field_index(record, field) else {
            return Some(None);
        };
        let id = SharedId(variable.first.0 + field as u32);
        let Shared { ty, dims, .. } = &globals.shared[id.index()];
        Some(Some(Variable { root: Root::Shared(id), ty: *ty, dims: dims.clone(), first }))
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

    fn field<'e>(&mut self, of: Expr, field: &ast::Name) -> Option<Variable<'e>> {
        let Ty::Ref(pool) = of.ty else {
            let message = format!("{} has no fields", self.globals.show(of.ty));
            self.diagnostics
                .error(codes::NOT_A_RECORD, of.span, message)
                .label("not a reference to a record")
                .hint("only references to records have fields: `record Node { int value; }`");
            return None;
        };
        let globals = self.globals;
        let record = &globals.records[pool.index()];
        let at = self.field_index(record, field)?;
        let info = &record.fields[at];
        let root = Root::Field { pool, field: at, of: Box::new(of) };
        Some(Variable { root, ty: info.ty, dims: info.dims.clone(), first: vec![] })
    }

    /// Returns the number of a field. Reports an error if the record has no such field.
    fn field_index(&mut self, record: &Record, field: &ast::Name) -> Option<usize> {
        let found = record.fields.iter().position(|f| f.name == field.text);
        if found.is_none() {
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
        }
        found
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
            Some((Global::RecordVar(at), declared)) => {
                let variable = &self.globals.record_vars[at];
                let record = &self.globals.value_records[variable.record];
                let field = record.fields.first().map_or("field", |f| f.name.as_str());
                let hint = format!(
                    "write `{name}{}.{field}`, or add `pool {}[2];` for references",
                    "[0]".repeat(variable.dims.len()),
                    record.name
                );
                self.diagnostics
                    .error(codes::NOT_A_LOCATION, span, format!("`{name}` holds records"))
                    .label("only the fields of a record are locations")
                    .related(declared, "declared here")
                    .hint(hint);
            }
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
