//! Checks local arrays. A local array is a list of registers, one for each element.

use fencepost_ir::Span;

use super::Checker;
use super::place::split_indices;
use crate::fp::ast::{self, ExprKind as Ast, Initial};
use crate::fp::codes;
use crate::fp::limits;
use crate::fp::names::{list_values, too_many};
use crate::fp::tree::{Element, ExprKind, Stmt, StmtKind, element_suffix, elements};
use crate::fp::types::{LocalId, Outside, Ty, VarTy};

/// A local array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LocalArray {
    /// The register of the first element.
    first: LocalId,
    dims: Vec<u32>,
    pub(super) ty: VarTy,
    /// The position of the declaration.
    pub(super) span: Span,
}

impl Checker<'_> {
    /// Declares the registers of a local array. `known` is the type, if it has no error.
    pub(super) fn declare_array(&mut self, var: &ast::Declarator, known: Option<VarTy>) {
        let ty = known.unwrap_or(VarTy::plain(Ty::Int));
        let mut dims = Vec::new();
        let mut total = 1u64;
        for len in &var.dims {
            let Some(value) = self.globals.constant_int(len, self.source, self.diagnostics) else {
                return;
            };
            if value < 1 {
                let message = format!("the number of elements of an array is {value}");
                self.diagnostics
                    .error(codes::BAD_CONSTANT, len.span, message)
                    .label("must be at least 1");
                return;
            }
            total = total.saturating_mul(value as u64);
            dims.push(value as u32);
        }
        if total > limits::LOCAL_ARRAY {
            let what = "elements of a local array";
            too_many(self.diagnostics, var.name.span, what, total, limits::LOCAL_ARRAY);
            return;
        }
        if ty.outside == Outside::Block {
            self.diagnostics
                .error(codes::BLOCK, var.name.span, "a local array cannot have a range that blocks")
                .label("an assignment to an element cannot wait")
                .hint("remove `block`, or assign to a register first");
            return;
        }
        if let Some(old) = self.arrays.get(&var.name.text) {
            if old.dims != dims || old.ty != ty {
                let first = old.span;
                self.declared_twice(&var.name, first, "declared with another type here");
            }
            return;
        }
        let mut first = None;
        for at in 0..total as u32 {
            let text = format!("{}{}", var.name.text, element_suffix(&dims, at));
            let name = ast::Name { text, span: var.name.span };
            let id = self.add_register(&name, Some(ty), false);
            self.by_name.remove(&name.text);
            // One warning about a register that is never read is enough.
            self.registers[id.index()].read = at > 0;
            self.registers[id.index()].typed = known.is_some();
            first = first.or(Some(id));
        }
        if let Some(first) = first {
            let array = LocalArray { first, dims, ty, span: var.name.span };
            self.arrays.insert(var.name.text.clone(), array);
        }
    }

    /// Checks `a[i]` where `a` is a local array. Returns `None` if it is something else.
    pub(super) fn local_element(&mut self, expr: &ast::Expr) -> Option<Option<Element>> {
        let (base, indices) = split_indices(expr);
        let Ast::Name(name) = &base.kind else {
            return None;
        };
        let array = self.arrays.get(name)?.clone();
        Some(self.element(base, expr.span, &array, &indices))
    }

    fn element(
        &mut self,
        base: &ast::Expr,
        span: Span,
        array: &LocalArray,
        indices: &[&ast::Expr],
    ) -> Option<Element> {
        let LocalArray { first, dims, ty, .. } = array.clone();
        self.registers[first.index()].read = true;
        if !self.check_dimensions(base, span, dims.len(), &dims, indices.len()) {
            return None;
        }
        let mut checked = Vec::new();
        for (index, len) in indices.iter().zip(&dims) {
            let value = self.expr_of(index, Ty::Int)?;
            if let ExprKind::Const(at) = value.kind
                && !(0..i64::from(*len)).contains(&at)
            {
                self.diagnostics
                    .error(codes::ARRAY, index.span, format!("index {at} is out of bounds"))
                    .label(format!("the array has {len} elements"))
                    .hint(format!("use an index from 0 to {}", len - 1));
                return None;
            }
            checked.push(value);
        }
        Some(Element { first, dims, indices: checked, ty })
    }

    /// Checks an assignment to an element of a local array. Returns `None` if the place is
    /// something else.
    pub(super) fn assign_element(
        &mut self,
        place: &ast::Expr,
        op: Option<fencepost_ir::BinOp>,
        value: &ast::Expr,
        span: Span,
    ) -> Option<Option<StmtKind>> {
        let (Ast::Name(name), _) = (&split_indices(place).0.kind, ()) else {
            return None;
        };
        let first = self.arrays.get(name)?.first;
        // An assignment does not read the array.
        let read = self.registers[first.index()].read;
        let element = self.local_element(place)?;
        self.registers[first.index()].read = read || op.is_some();
        let Some(element) = element else {
            self.expr(value);
            return Some(None);
        };
        for at in 0..elements(&element.dims) {
            self.registers[first.index() + at as usize].local.assigned = true;
        }
        Some(self.element_value(element, op, place.span, value, span))
    }

    fn element_value(
        &mut self,
        element: Element,
        op: Option<fencepost_ir::BinOp>,
        place: Span,
        value: &ast::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let ty = element.ty;
        let value = match op {
            None => self.expr(value)?,
            Some(op) => {
                let kind = ExprKind::LocalElement(element.clone());
                let old = crate::fp::tree::Expr { kind, ty: ty.ty, span: place, pure: false };
                let value = self.expr(value)?;
                self.combine(op, old, value, span)?
            }
        };
        let value = self.fit(value, ty)?;
        Some(StmtKind::AssignElement(element, value))
    }

    /// Checks the initial values of a local array. Without values, the elements are set to 0 if the
    /// declaration can run twice.
    pub(super) fn array_values(
        &mut self,
        var: &ast::Declarator,
        array: &LocalArray,
        resets: bool,
    ) -> Vec<Stmt> {
        let LocalArray { first, dims, ty, .. } = array.clone();
        let total = elements(&dims) as usize;
        let span = var.name.span;
        let local = |at: usize| LocalId(first.0 + at as u32);
        let values = match &var.init {
            None if !ty.contains(0) => {
                self.zero_outside_range(&var.name);
                return Vec::new();
            }
            None if resets => {
                let reset = |at| Stmt { kind: StmtKind::Reset(local(at)), span };
                return (0..total).map(reset).collect();
            }
            None => return Vec::new(),
            Some(Initial::One(value)) => vec![value; total],
            Some(Initial::List(list, span)) => {
                match list_values(list, *span, &dims, &var.name, self.diagnostics) {
                    Some(values) => values,
                    None => return Vec::new(),
                }
            }
        };
        let mut code = Vec::new();
        for (at, value) in values.into_iter().enumerate() {
            self.registers[local(at).index()].local.assigned = true;
            let span = value.span;
            if let Some(value) = self.expr(value).and_then(|value| self.fit(value, ty)) {
                code.push(Stmt { kind: StmtKind::Assign(local(at), value), span });
            }
        }
        code
    }
}
