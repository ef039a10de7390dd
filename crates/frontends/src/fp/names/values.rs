//! Declares variables that hold records by value, and flattens lists of initial values.
//!
//! A record with a pool is a reference type. A record without a pool is held by value: each of its
//! fields becomes one shared variable.

use std::collections::BTreeSet;

use fencepost_ir::{Diagnostics, Span};

use super::declare::Collector;
use super::{Global, RecordVar};
use crate::fp::ast::{self, Initial, ItemKind, TypeKind};
use crate::fp::codes;
use crate::fp::tree::{Shared, elements};
use crate::fp::types::{Outside, SharedId, VarTy};

/// Returns the names of the records without a pool that are the type of a shared variable and not
/// the type of a reference. If parts of the file were not parsed, a pool may be there, so the result
/// is then empty.
pub(super) fn value_records(file: &ast::File) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    if file.unparsed_names.is_some() {
        return names;
    }
    for item in &file.items {
        if let ItemKind::Shared(ast::TypeName { kind: TypeKind::Named(name), .. }, _) = &item.kind {
            names.insert(name.text.as_str());
        }
    }
    let named = |ty: &'_ ast::TypeName| match &ty.kind {
        TypeKind::Named(name) => Some(name.text.clone()),
        TypeKind::Bool | TypeKind::Int | TypeKind::Ranged(..) => None,
    };
    let mut references: Vec<String> = Vec::new();
    for item in &file.items {
        match &item.kind {
            // Fields, parameters and results are references.
            ItemKind::Record(_, fields) => {
                references.extend(fields.iter().filter_map(|field| named(&field.ty)));
            }
            ItemKind::Procedure(procedure) => {
                references.extend(procedure.params.iter().filter_map(|(ty, _)| named(ty)));
                references.extend(procedure.returns.iter().filter_map(named));
            }
            ItemKind::Pool(name, _) => references.push(name.text.clone()),
            ItemKind::Const(..)
            | ItemKind::Enum(..)
            | ItemKind::Shared(..)
            | ItemKind::Init(_)
            | ItemKind::Finally(_)
            | ItemKind::Client(_)
            | ItemKind::Thread(_)
            | ItemKind::Property(..)
            | ItemKind::Final(..)
            | ItemKind::Invariant(_)
            | ItemKind::Observe(_) => {}
        }
    }
    names.retain(|name| !references.iter().any(|reference| reference == *name));
    names
}

impl Collector<'_> {
    /// Declares a variable that holds records: one shared variable for each field.
    pub(super) fn record_variable(&mut self, record: usize, var: &ast::Declarator) {
        let first = SharedId(self.globals.shared.len() as u32);
        let fields = self.record_fields(record, var);
        let global = match fields {
            Some(_) => Global::RecordVar(self.globals.record_vars.len()),
            None => Global::Invalid,
        };
        if self.globals.add(&var.name, global, self.diagnostics)
            && let Some((fields, dims)) = fields
        {
            self.globals.shared.extend(fields);
            self.globals.record_vars.push(RecordVar { record, dims, first });
        }
    }

    fn record_fields(
        &mut self,
        record: usize,
        var: &ast::Declarator,
    ) -> Option<(Vec<Shared>, Vec<u32>)> {
        let outer = self.dimensions(&var.dims, var.name.span)?;
        if let Some(init) = &var.init {
            let span = match init {
                Initial::One(value) => value.span,
                Initial::List(_, span) => *span,
            };
            self.diagnostics
                .error(codes::ARRAY, span, "a variable that holds records has no initial value")
                .label("all fields start as 0, `false` or `null`")
                .hint("set the fields in `init { ... }`");
            return None;
        }
        let cells = u64::from(elements(&outer));
        let mut shared = Vec::new();
        for field in self.globals.value_records[record].fields.clone() {
            let count = cells * u64::from(elements(&field.dims));
            if !self.take_locations(count, var.name.span) {
                return None;
            }
            shared.push(Shared {
                name: var.name.text.clone(),
                field: Some((field.name, outer.len())),
                ty: field.ty,
                dims: outer.iter().chain(&field.dims).copied().collect(),
                init: vec![0; count as usize],
            });
        }
        Some((shared, outer))
    }

    /// Resolves the type of a parameter or a result, which cannot be a range that blocks.
    pub(super) fn value_type(&mut self, ty: &ast::TypeName) -> Option<VarTy> {
        let resolved = self.globals.resolve_type(ty, self.source, self.diagnostics)?;
        if resolved.outside == Outside::Block {
            self.diagnostics
                .error(codes::BLOCK, ty.span, "only variables can have a range that blocks")
                .label("a parameter or result cannot wait")
                .hint("remove `block`; a value outside the range is then a fault");
            return None;
        }
        Some(resolved)
    }
}

/// Returns the expressions of a list of initial values, in the order of the elements. A list for
/// several dimensions has one list for each index, or all values in one list.
pub fn list_values<'a>(
    list: &'a [Initial],
    span: Span,
    dims: &[u32],
    name: &ast::Name,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<&'a ast::Expr>> {
    let report = |span: Span, message: String, hint: &str, diagnostics: &mut Diagnostics| {
        diagnostics
            .error(codes::ARRAY, span, message)
            .label("a list has one value for each element of an array")
            .related(name.span, "declared here")
            .hint(hint);
    };
    let Some((first, rest)) = dims.split_first() else {
        let message = format!("`{}` is not an array", name.text);
        report(span, message, "write a single value: `= 0`", diagnostics);
        return None;
    };
    let nested = list.iter().any(|item| matches!(item, Initial::List(..)));
    let count = if nested { *first } else { elements(dims) };
    if list.len() != count as usize {
        let message = match nested {
            true => format!("{} lists for {count} elements", list.len()),
            false => format!("{} values for {count} elements", list.len()),
        };
        let hint = "write one value for each element, or a single value for all: `= 0`";
        report(span, message, hint, diagnostics);
        return None;
    }
    let mut values = Vec::new();
    for item in list {
        match item {
            Initial::List(inner, span) if !rest.is_empty() => {
                values.extend(list_values(inner, *span, rest, name, diagnostics)?);
            }
            Initial::One(value) if !nested => values.push(value),
            Initial::One(ast::Expr { span, .. }) | Initial::List(_, span) => {
                let message = "the lists do not have the shape of the array".into();
                let hint = "write one list for each index, or all values in one list";
                report(*span, message, hint, diagnostics);
                return None;
            }
        }
    }
    Some(values)
}
