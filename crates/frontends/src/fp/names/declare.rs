//! Collects the declarations of a file into the symbol table.

use std::collections::BTreeMap;

use fencepost_ir::{Diagnostics, PoolId, Span, Value};

use super::values::list_values;
use super::{Attributes, Global, Globals, Signature, TemplateSignature, too_many};
use crate::fp::ast::{self, AttributeKind, Initial, ItemKind};
use crate::fp::codes;
use crate::fp::limits;
use crate::fp::suggest::did_you_mean;
use crate::fp::tree::{Field, Record, Shared, elements};
use crate::fp::types::{EnumId, EnumInfo, ProcId, SharedId, TemplateId, Ty, VarTy};

impl Globals {
    /// Builds the symbol table of a file.
    pub fn collect(file: &ast::File, source: &str, diagnostics: &mut Diagnostics) -> Globals {
        let globals = Globals { unparsed_names: file.unparsed_names.clone(), ..Globals::default() };
        let mut collector = Collector { globals, source, diagnostics, locations: 0 };
        collector.types(file);
        collector.constants(file);
        collector.pools(file);
        collector.fields(file);
        collector.variables(file);
        collector.bodies(file);
        collector.globals
    }
}

pub(super) struct Collector<'a> {
    pub(super) globals: Globals,
    pub(super) source: &'a str,
    pub(super) diagnostics: &'a mut Diagnostics,
    /// The number of locations declared so far.
    locations: u64,
}

impl Collector<'_> {
    /// Declares enums with their constants, and the names of records. Runs first, because all other
    /// declarations can mention types.
    fn types(&mut self, file: &ast::File) {
        let values = super::values::value_records(file);
        for item in &file.items {
            if let ItemKind::Enum(name, constants) = &item.kind {
                self.enumeration(name, constants);
            }
            if let ItemKind::Record(name, _) = &item.kind {
                if self.globals.records.len() >= limits::RECORDS {
                    let limit = limits::RECORDS as u64;
                    too_many(self.diagnostics, name.span, "records", limit + 1, limit);
                    return;
                }
                let record = Record { name: name.text.clone(), fields: vec![], cells: 0 };
                if values.contains(name.text.as_str()) {
                    let global = Global::ValueRecord(self.globals.value_records.len());
                    if self.globals.add(name, global, self.diagnostics) {
                        self.globals.value_records.push(record);
                    }
                    continue;
                }
                let id = PoolId::from_index(self.globals.records.len());
                if self.globals.add(name, Global::Record(id), self.diagnostics) {
                    self.globals.records.push(record);
                }
            }
        }
    }

    fn enumeration(&mut self, name: &ast::Name, constants: &[ast::Name]) {
        if constants.is_empty() || constants.len() > limits::CONSTANTS {
            let message = format!("enum `{}` has {} constants", name.text, constants.len());
            let label = format!("an enum must have 1 to {} constants", limits::CONSTANTS);
            self.diagnostics.error(codes::EMPTY, name.span, message).label(label);
            self.globals.set(name, Global::Invalid);
            return;
        }
        let id = EnumId(self.globals.enums.len() as u32);
        if self.globals.add(name, Global::Enum(id), self.diagnostics) {
            self.globals.enums.push(EnumInfo {
                name: name.text.clone(),
                constants: constants.iter().map(|c| c.text.clone()).collect(),
            });
            for (value, constant) in constants.iter().enumerate() {
                let global = Global::Const(value as Value, Ty::Enum(id));
                self.globals.add(constant, global, self.diagnostics);
            }
        }
    }

    fn constants(&mut self, file: &ast::File) {
        for item in &file.items {
            if let ItemKind::Const(name, _) = &item.kind {
                self.globals.constants.entry(name.text.clone()).or_insert(name.span);
            }
        }
        for item in &file.items {
            if let ItemKind::Const(name, expr) = &item.kind {
                let value = self.globals.constant(expr, self.source, self.diagnostics);
                let global = value.map_or(Global::Invalid, |(value, ty)| Global::Const(value, ty));
                self.globals.add(name, global, self.diagnostics);
            }
        }
    }

    fn pools(&mut self, file: &ast::File) {
        let mut seen: Vec<Option<Span>> = vec![None; self.globals.records.len()];
        for item in &file.items {
            let ItemKind::Pool(name, cells) = &item.kind else {
                continue;
            };
            let id = match self.globals.get(&name.text) {
                Some((Global::Record(id), _)) => id,
                Some((Global::Invalid, _)) => continue,
                Some(_) | None => {
                    let records = self.globals.names(|g| matches!(g, Global::Record(_)));
                    let near = did_you_mean(&name.text, records, self.diagnostics.len());
                    let message = format!("there is no record `{}`", name.text);
                    let declare = || format!("declare it: `record {} {{ ... }}`", name.text);
                    self.diagnostics
                        .error(codes::UNKNOWN_TYPE, name.span, message)
                        .label("unknown record")
                        .hint(near.unwrap_or_else(declare));
                    continue;
                }
            };
            if let Some(first) = seen[id.index()] {
                let message = format!("record `{}` has two pools", name.text);
                self.diagnostics
                    .error(codes::DUPLICATE, item.span, message)
                    .label("second pool")
                    .related(first, "first pool")
                    .hint("remove one of the pools");
                continue;
            }
            seen[id.index()] = Some(item.span);
            if let Some(cells) = self.size(cells, "cells of a pool") {
                self.globals.records[id.index()].cells = cells;
            }
        }
        for item in &file.items {
            if let ItemKind::Record(name, _) = &item.kind
                && let Some(id) = self.record_declared_at(name)
                && seen[id.index()].is_none()
                && self.globals.unparsed_names.is_none()
            {
                let message = format!("record `{}` has no pool", name.text);
                self.diagnostics
                    .error(codes::POOL, name.span, message)
                    .label("`new` needs a pool to allocate from")
                    .hint(format!("add `pool {}[2];` for at most two records", name.text));
            }
        }
    }

    /// Returns the record that a declaration introduces. Returns `None` if the name was already
    /// declared.
    fn record_declared_at(&self, name: &ast::Name) -> Option<PoolId> {
        match self.globals.get(&name.text) {
            Some((Global::Record(id), span)) if span == name.span => Some(id),
            Some(_) | None => None,
        }
    }

    fn fields(&mut self, file: &ast::File) {
        for item in &file.items {
            let ItemKind::Record(name, fields) = &item.kind else {
                continue;
            };
            let pool = self.record_declared_at(name);
            let value = match self.globals.get(&name.text) {
                Some((Global::ValueRecord(at), span)) if span == name.span => Some(at),
                Some(_) | None => None,
            };
            if pool.is_none() && value.is_none() {
                continue;
            }
            if fields.is_empty() {
                let message = format!("record `{}` has no fields", name.text);
                self.diagnostics
                    .error(codes::EMPTY, name.span, message)
                    .label("a record must have at least one field")
                    .hint(format!("add a field: `record {} {{ int value; }}`", name.text));
            }
            let checked: Vec<Field> = fields.iter().filter_map(|f| self.field(f)).collect();
            let stride: u64 = checked.iter().map(|f| u64::from(elements(&f.dims))).sum();
            let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
            for ast::Field { name, .. } in fields {
                if let Some(first) = seen.insert(&name.text, name.span) {
                    let message = format!("field `{}` is declared twice", name.text);
                    self.diagnostics
                        .error(codes::DUPLICATE, name.span, message)
                        .label("second declaration")
                        .related(first, "first declaration")
                        .hint("rename one of the fields");
                }
            }
            match (pool, value) {
                (Some(id), _) => {
                    let record = &mut self.globals.records[id.index()];
                    record.fields = checked;
                    let cells = u64::from(record.cells);
                    self.take_locations(cells * stride, name.span);
                }
                (None, Some(at)) => self.globals.value_records[at].fields = checked,
                (None, None) => {}
            }
        }
    }

    fn field(&mut self, field: &ast::Field) -> Option<Field> {
        let ty = self.globals.resolve_type(&field.ty, self.source, self.diagnostics);
        let dims = self.dimensions(&field.dims, field.name.span)?;
        let ty = ty.filter(|ty| self.zero_fits(*ty, field.name.span))?;
        Some(Field { name: field.name.text.clone(), ty, dims })
    }

    /// Reports an error if a variable of this type cannot start as 0.
    pub(super) fn zero_fits(&mut self, ty: VarTy, span: Span) -> bool {
        if !ty.contains(0) {
            self.diagnostics
                .error(codes::BAD_CONSTANT, span, "the initial value 0 is outside the range")
                .label("starts as 0")
                .hint("write an initial value, or use a range that contains 0");
        }
        ty.contains(0)
    }

    pub(super) fn take_locations(&mut self, count: u64, span: Span) -> bool {
        let before = self.locations;
        self.locations = self.locations.saturating_add(count);
        if self.locations > limits::LOCATIONS && before <= limits::LOCATIONS {
            too_many(self.diagnostics, span, "locations", self.locations, limits::LOCATIONS);
        }
        self.locations <= limits::LOCATIONS
    }

    /// Evaluates a constant size: at least 1, and at most the limit on locations.
    fn size(&mut self, expr: &ast::Expr, what: &str) -> Option<u32> {
        let value = self.globals.constant_int(expr, self.source, self.diagnostics)?;
        if value < 1 {
            self.diagnostics
                .error(codes::BAD_CONSTANT, expr.span, format!("the number of {what} is {value}"))
                .label("must be at least 1");
            return None;
        }
        if value as u64 > limits::LOCATIONS {
            too_many(self.diagnostics, expr.span, what, value as u64, limits::LOCATIONS);
            return None;
        }
        Some(value as u32)
    }

    /// Evaluates the dimensions of an array.
    pub(super) fn dimensions(&mut self, dims: &[ast::Expr], span: Span) -> Option<Vec<u32>> {
        let mut sizes = Vec::new();
        for len in dims {
            sizes.push(self.size(len, "elements of an array")?);
        }
        let total = sizes.iter().fold(1u64, |all, len| all.saturating_mul(u64::from(*len)));
        if total > limits::LOCATIONS {
            too_many(self.diagnostics, span, "elements of an array", total, limits::LOCATIONS);
            return None;
        }
        Some(sizes)
    }

    fn variables(&mut self, file: &ast::File) {
        for item in &file.items {
            let ItemKind::Shared(ty, vars) = &item.kind else {
                continue;
            };
            if let ast::TypeKind::Named(name) = &ty.kind
                && let Some((Global::ValueRecord(record), _)) = self.globals.get(&name.text)
            {
                for var in vars {
                    self.record_variable(record, var);
                }
                continue;
            }
            let ty = self.globals.resolve_type(ty, self.source, self.diagnostics);
            for var in vars {
                let shared = ty.and_then(|ty| self.variable(ty, var));
                let id = SharedId(self.globals.shared.len() as u32);
                let global = if shared.is_some() { Global::Shared(id) } else { Global::Invalid };
                if self.globals.add(&var.name, global, self.diagnostics) {
                    self.globals.shared.extend(shared);
                }
            }
        }
    }

    fn variable(&mut self, ty: VarTy, var: &ast::Declarator) -> Option<Shared> {
        let dims = self.dimensions(&var.dims, var.name.span)?;
        let count = elements(&dims) as usize;
        if !self.take_locations(count as u64, var.name.span) {
            return None;
        }
        let init = match &var.init {
            None => {
                if !self.zero_fits(ty, var.name.span) {
                    return None;
                }
                vec![0; count]
            }
            Some(Initial::One(value)) => vec![self.initial(ty, value)?; count],
            Some(Initial::List(values, span)) => {
                let values = list_values(values, *span, &dims, &var.name, self.diagnostics)?;
                let values: Vec<_> = values.into_iter().map(|v| self.initial(ty, v)).collect();
                values.into_iter().collect::<Option<Vec<Value>>>()?
            }
        };
        Some(Shared { name: var.name.text.clone(), field: None, ty, dims, init })
    }

    fn initial(&mut self, ty: VarTy, expr: &ast::Expr) -> Option<Value> {
        let value = self.globals.constant_of(expr, ty.ty, self.source, self.diagnostics)?;
        if !ty.contains(value) {
            self.diagnostics
                .error(codes::BAD_CONSTANT, expr.span, format!("{value} is outside the range"))
                .label("not a value of the declared type")
                .hint = ty.range.map(|(lo, hi)| format!("use a value from {lo} to {hi}"));
            return None;
        }
        Some(value)
    }

    /// Declares the signatures of procedures and threads.
    fn bodies(&mut self, file: &ast::File) {
        let mut letters: Vec<(char, Span)> = Vec::new();
        for item in &file.items {
            if let ItemKind::Procedure(procedure) = &item.kind {
                self.procedure(procedure, &mut letters);
            }
            if let ItemKind::Thread(thread) = &item.kind {
                self.thread(thread);
            }
        }
    }

    fn procedure(&mut self, procedure: &ast::Procedure, letters: &mut Vec<(char, Span)>) {
        let mut broken = false;
        let returns = procedure.returns.as_ref().and_then(|ty| {
            let ty = self.value_type(ty);
            broken |= ty.is_none();
            ty
        });
        let mut params = Vec::new();
        for (ty, name) in &procedure.params {
            match self.value_type(ty) {
                Some(ty) => params.push((name.clone(), ty)),
                None => broken = true,
            }
        }
        let letter = procedure.letter.as_ref().and_then(|name| {
            if params.iter().any(|(_, ty)| !ty.ty.is_number()) {
                self.diagnostics
                    .error(
                        codes::CLIENT,
                        procedure.name.span,
                        "the parameters of an operation must have type `int`",
                    )
                    .label("has a parameter of another type")
                    .hint("use `int`: clients pass the numbers 1, 2, 3, ...");
            }
            let letter = self.letter(name, letters);
            broken |= letter.is_none();
            letter
        });
        let attributes = self.attributes(procedure, returns);
        let id = ProcId(self.globals.procs.len() as u32);
        let global = if broken { Global::Invalid } else { Global::Proc(id) };
        if self.globals.add(&procedure.name, global, self.diagnostics) && !broken {
            self.globals.procs.push(Signature {
                name: procedure.name.text.clone(),
                span: procedure.name.span,
                returns,
                params,
                letter,
                attributes,
            });
        }
    }

    fn attributes(&mut self, of: &ast::Procedure, returns: Option<VarTy>) -> Attributes {
        let mut found = Attributes::default();
        for (at, ast::Attribute { kind, span }) in of.attributes.iter().enumerate() {
            let word = kind.word();
            if let Some(first) = of.attributes[..at].iter().find(|a| a.kind.word() == word) {
                self.diagnostics
                    .error(codes::DUPLICATE, *span, format!("attribute `{word}` is given twice"))
                    .label("second use")
                    .related(first.span, "first use")
                    .hint("remove one of them");
            }
            let needs_value = match kind {
                AttributeKind::Owner => false,
                AttributeKind::Repeats | AttributeKind::Aborts(_) => true,
            };
            if needs_value && of.returns.is_none() {
                let message = format!("operation `{}` returns nothing", of.name.text);
                self.diagnostics
                    .error(codes::NO_VALUE, *span, message)
                    .label(format!("`{word}` needs an operation that returns a value"))
                    .hint(format!("remove `{word}`, or write a result type instead of `void`"));
                continue;
            }
            match kind {
                AttributeKind::Owner => found.owner = true,
                AttributeKind::Repeats => found.repeats = true,
                AttributeKind::Aborts(value) => {
                    found.aborts = returns.and_then(|ty| self.initial(ty, value));
                }
            }
        }
        found
    }

    fn letter(&mut self, name: &ast::Name, letters: &mut Vec<(char, Span)>) -> Option<char> {
        let mut chars = name.text.chars();
        let (Some(letter), None) = (chars.next(), chars.next()) else {
            let message = format!("`{}` is not a single letter", name.text);
            self.diagnostics
                .error(codes::CLIENT, name.span, message)
                .label("expected a single letter")
                .hint("clients name each operation by one letter, for example `as t`");
            return None;
        };
        if let Some((_, span)) = letters.iter().find(|(l, _)| *l == letter) {
            self.diagnostics
                .error(
                    codes::DUPLICATE,
                    name.span,
                    format!("two operations have the letter `{letter}`"),
                )
                .label("second operation with this letter")
                .related(*span, "first operation with this letter")
                .hint("choose another letter");
            return None;
        }
        letters.push((letter, name.span));
        Some(letter)
    }

    fn thread(&mut self, thread: &ast::Thread) {
        let mut broken = false;
        let param = thread.param.as_ref().and_then(|(name, range)| {
            let param = self.template_parameter(name, range);
            broken = param.is_none();
            param
        });
        let id = TemplateId(self.globals.templates.len() as u32);
        let global = if broken { Global::Invalid } else { Global::Thread(id) };
        if self.globals.add(&thread.name, global, self.diagnostics) && !broken {
            let name = thread.name.text.clone();
            self.globals.templates.push(TemplateSignature { name, param });
        }
    }

    fn template_parameter(
        &mut self,
        name: &ast::Name,
        range: &ast::Range,
    ) -> Option<(ast::Name, Value, Value)> {
        let span = range.lo.span.to(range.hi.span);
        let (lo, hi) = self.globals.constant_range(range, self.source, self.diagnostics)?;
        if let Some((global, at)) = self.globals.declared(&name.text)
            && global.is_value()
        {
            let message = format!("`{}` is already {}", name.text, global.describe());
            self.diagnostics
                .error(codes::DUPLICATE, name.span, message)
                .label("a parameter needs a name of its own")
                .related(at, "declared here")
                .hint("choose another name for the parameter");
        }
        let count = hi - lo + 1;
        if count < 1 {
            self.diagnostics
                .error(codes::EMPTY, span, "this range creates no threads")
                .label("the range is empty")
                .hint("`0..2` creates two threads, with the values 0 and 1");
            return None;
        }
        if count as u64 > limits::THREADS {
            too_many(self.diagnostics, span, "threads", count as u64, limits::THREADS);
            return None;
        }
        Some((name.clone(), lo, hi))
    }
}
