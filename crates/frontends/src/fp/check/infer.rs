//! Finds the registers of a body and infers the types of undeclared registers.
//!
//! The scope of a register is the whole body. Two declarations of a name are the same register if
//! they are in different blocks and have the same type, so that `for (int i = ...)` can occur
//! twice. An undeclared register has the type of the first value assigned to it. That value may
//! mention other undeclared registers, so inference iterates to a fixpoint.

use std::collections::BTreeMap;

use fencepost_ir::{BinOp, Span, UnOp};

use super::place::split_indices;
use super::{Checker, Register};
use crate::fp::ast::{self, ExprKind as Ast, StmtKind};
use crate::fp::codes;
use crate::fp::names::{BUILTINS, Global};
use crate::fp::tree::Local;
use crate::fp::types::{LocalId, Ty, VarTy, is_arithmetic, is_boolean};

/// The limit on iterations of type inference. Registers of longer dependency chains get type `int`.
const MAX_ITERATIONS: usize = 50;

/// The names declared in one block, with their positions.
type Scope<'s> = BTreeMap<&'s str, Span>;

/// Calls `visit` on a statement and all statements inside it, outermost first.
pub(super) fn walk<'s>(stmt: &'s ast::Stmt, visit: &mut impl FnMut(&'s ast::Stmt)) {
    visit(stmt);
    match &stmt.kind {
        StmtKind::Block(block) | StmtKind::Critical(block) | StmtKind::Atomic(block) => {
            for stmt in &block.stmts {
                walk(stmt, visit);
            }
        }
        StmtKind::Either(branches) => {
            for stmt in branches.iter().flat_map(|block| &block.stmts) {
                walk(stmt, visit);
            }
        }
        StmtKind::Switch { cases, .. } => {
            for stmt in cases.iter().flat_map(|case| &case.stmts) {
                walk(stmt, visit);
            }
        }
        StmtKind::Label(_, body)
        | StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. }
        | StmtKind::Loop(body) => walk(body, visit),
        StmtKind::If { then, otherwise, .. } => {
            walk(then, visit);
            if let Some(otherwise) = otherwise {
                walk(otherwise, visit);
            }
        }
        StmtKind::For { init, step, body, .. } => {
            for part in init.iter().chain([body]).chain(step.iter()) {
                walk(part, visit);
            }
        }
        StmtKind::Declare(..)
        | StmtKind::Assign(..)
        | StmtKind::Step(..)
        | StmtKind::Eval(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Goto(_)
        | StmtKind::Return(_)
        | StmtKind::Skip
        | StmtKind::Fence(_)
        | StmtKind::Drain(_)
        | StmtKind::Assume(_)
        | StmtKind::Await(_)
        | StmtKind::When(_)
        | StmtKind::Assert(_)
        | StmtKind::Free(_)
        | StmtKind::Empty => {}
    }
}

/// Returns the names that a block assigns to, without duplicates.
pub(super) fn assigned_names(block: &ast::Block) -> Vec<&str> {
    let mut names = Vec::new();
    for stmt in &block.stmts {
        walk(stmt, &mut |stmt| {
            if let StmtKind::Assign(place, None, _) = &stmt.kind
                && let Ast::Name(name) = &place.kind
            {
                names.push(name.as_str());
            }
        });
    }
    names.sort_unstable();
    names.dedup();
    names
}

impl Checker<'_> {
    /// Finds all registers of a body and their types.
    pub(super) fn find_registers(&mut self, block: &ast::Block) {
        let mut scopes = vec![BTreeMap::new()];
        for stmt in &block.stmts {
            self.declarations(stmt, &mut scopes);
        }
        let mut implicit: Vec<(LocalId, &ast::Expr)> = Vec::new();
        for stmt in &block.stmts {
            walk(stmt, &mut |stmt| self.assignment(stmt, &mut implicit));
        }
        for _ in 0..MAX_ITERATIONS {
            let mut changed = false;
            for (id, value) in &implicit {
                if self.registers[id.index()].typed {
                    continue;
                }
                let ty = self.infer(value);
                let register = &mut self.registers[id.index()];
                match ty {
                    // Another assigned value may have a more specific type.
                    Some(Ty::Null) => register.local.ty.ty = Ty::Null,
                    Some(ty) => {
                        register.local.ty = VarTy::plain(ty);
                        register.typed = true;
                        changed = true;
                    }
                    None => {}
                }
            }
            if !changed {
                break;
            }
        }
        // A type may depend on an unparsed part, or on a value that causes an error.
        if self.globals.unparsed_names.is_none() {
            let unresolved: Vec<LocalId> = implicit
                .iter()
                .filter(|(_, value)| self.calls_unknown_procedure(value))
                .map(|(id, _)| *id)
                .collect();
            for (at, register) in self.registers.iter_mut().enumerate() {
                register.typed |= unresolved.iter().all(|id| id.index() != at);
            }
        }
    }

    /// Returns whether a value is a call of a procedure that does not exist.
    fn calls_unknown_procedure(&self, value: &ast::Expr) -> bool {
        match &value.kind {
            Ast::Call(name, _) => {
                !BUILTINS.contains(&name.text.as_str()) && self.globals.get(&name.text).is_none()
            }
            Ast::Paren(inner) => self.calls_unknown_procedure(inner),
            Ast::Number(_)
            | Ast::Bool(_)
            | Ast::Null
            | Ast::Name(_)
            | Ast::Unary(..)
            | Ast::Binary(..)
            | Ast::Select(..)
            | Ast::Index(..)
            | Ast::Field(..)
            | Ast::Method(..)
            | Ast::ChooseRange(_)
            | Ast::ChooseList(_)
            | Ast::New(_)
            | Ast::At(..) => false,
        }
    }

    pub(super) fn add_register(
        &mut self,
        name: &ast::Name,
        ty: Option<VarTy>,
        param: bool,
    ) -> LocalId {
        let id = LocalId(self.registers.len() as u32);
        self.registers.push(Register {
            local: Local {
                name: name.text.clone(),
                ty: ty.unwrap_or(VarTy::plain(Ty::Int)),
                span: name.span,
                assigned: false,
                declared: ty.is_some(),
            },
            typed: ty.is_some(),
            read: false,
            param,
        });
        self.by_name.insert(name.text.clone(), id);
        id
    }

    /// Adds the declared registers. `scopes` contains the names declared in each enclosing block.
    fn declarations<'s>(&mut self, stmt: &'s ast::Stmt, scopes: &mut Vec<Scope<'s>>) {
        match &stmt.kind {
            StmtKind::Declare(ty, vars) => {
                let ty = self.globals.resolve_type(ty, self.source, self.diagnostics);
                for var in vars {
                    self.declare(var, ty, scopes);
                }
            }
            StmtKind::Block(block) | StmtKind::Critical(block) | StmtKind::Atomic(block) => {
                scopes.push(BTreeMap::new());
                for stmt in &block.stmts {
                    self.declarations(stmt, scopes);
                }
                scopes.pop();
            }
            StmtKind::Either(branches) => {
                for block in branches {
                    scopes.push(BTreeMap::new());
                    for stmt in &block.stmts {
                        self.declarations(stmt, scopes);
                    }
                    scopes.pop();
                }
            }
            StmtKind::Switch { cases, .. } => {
                scopes.push(BTreeMap::new());
                for stmt in cases.iter().flat_map(|case| &case.stmts) {
                    self.declarations(stmt, scopes);
                }
                scopes.pop();
            }
            StmtKind::Label(_, body)
            | StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::Loop(body) => self.declarations(body, scopes),
            StmtKind::If { then, otherwise, .. } => {
                self.declarations(then, scopes);
                if let Some(otherwise) = otherwise {
                    self.declarations(otherwise, scopes);
                }
            }
            StmtKind::For { init, body, .. } => {
                scopes.push(BTreeMap::new());
                if let Some(init) = init {
                    self.declarations(init, scopes);
                }
                self.declarations(body, scopes);
                scopes.pop();
            }
            StmtKind::Assign(..)
            | StmtKind::Step(..)
            | StmtKind::Eval(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_)
            | StmtKind::Return(_)
            | StmtKind::Skip
            | StmtKind::Fence(_)
            | StmtKind::Drain(_)
            | StmtKind::Assume(_)
            | StmtKind::Await(_)
            | StmtKind::When(_)
            | StmtKind::Assert(_)
            | StmtKind::Free(_)
            | StmtKind::Empty => {}
        }
    }

    fn declare<'s>(
        &mut self,
        var: &'s ast::Declarator,
        ty: Option<VarTy>,
        scopes: &mut [Scope<'s>],
    ) {
        let name = &var.name;
        // Without its type this may not be a declaration: `delete x;`.
        if (ty.is_none() && self.globals.get(&name.text).is_some())
            || !self.check_register_name(name)
        {
            return;
        }
        let twice = scopes.iter().find_map(|scope| scope.get(name.text.as_str()).copied());
        let old = self.by_name.get(&name.text).map(|id| self.registers[id.index()].clone());
        let conflict = match (&old, twice) {
            (Some(old), _) if old.param => Some((old.local.span, "a parameter has this name")),
            (_, Some(first)) => Some((first, "first declaration")),
            (Some(old), None) if ty.is_some_and(|ty| ty != old.local.ty) => {
                Some((old.local.span, "declared with another type here"))
            }
            (_, None) => None,
        };
        let array = self.arrays.get(&name.text).map(|array| array.span);
        let other = match (&old, array, var.dims.is_empty()) {
            (Some(old), _, false) => Some(old.local.span),
            (None, Some(span), true) => Some(span),
            (Some(_), _, true) | (None, Some(_), false) | (None, None, _) => None,
        };
        let conflict = conflict.or(other.map(|span| (span, "declared with another type here")));
        if let Some((span, text)) = conflict {
            self.declared_twice(name, span, text);
            return;
        }
        if let Some(scope) = scopes.last_mut() {
            scope.insert(&name.text, name.span);
        }
        if !var.dims.is_empty() {
            self.declare_array(var, ty);
            return;
        }
        if old.is_none() {
            let known = ty.unwrap_or(VarTy::plain(Ty::Int));
            let id = self.add_register(name, Some(known), false);
            self.registers[id.index()].typed = ty.is_some();
        }
    }

    pub(super) fn declared_twice(&mut self, name: &ast::Name, first: Span, text: &str) {
        let message = format!("register `{}` is declared twice", name.text);
        self.diagnostics
            .error(codes::DUPLICATE, name.span, message)
            .label("second declaration")
            .related(first, text)
            .hint("rename one of them, or remove this declaration");
    }

    /// Returns whether a register can have this name. Reports an error if not.
    pub(super) fn check_register_name(&mut self, name: &ast::Name) -> bool {
        let taken = match self.globals.declared(&name.text) {
            Some((global, span)) if global.is_value() => Some((global.describe(), span)),
            Some(_) | None => None,
        };
        let param = self.param.filter(|p| p.text == name.text);
        let taken = taken.or(param.map(|p| ("the thread's parameter", p.span)));
        if let Some((what, span)) = taken {
            let message = format!("`{}` is already {what}", name.text);
            self.diagnostics
                .error(codes::DUPLICATE, name.span, message)
                .label("a register cannot have this name")
                .related(span, "declared here")
                .hint("choose another name for the register");
        }
        taken.is_none()
    }

    /// Adds a register that is assigned without a declaration.
    fn assignment<'s>(
        &mut self,
        stmt: &'s ast::Stmt,
        implicit: &mut Vec<(LocalId, &'s ast::Expr)>,
    ) {
        let StmtKind::Assign(place, op, value) = &stmt.kind else {
            return;
        };
        let Ast::Name(name) = &place.kind else { return };
        let global = self.globals.get(name).is_some_and(|(g, _)| g.is_value());
        let taken = global || self.arrays.contains_key(name);
        if taken || self.param.is_some_and(|p| p.text == *name) {
            return;
        }
        let id = match self.by_name.get(name) {
            Some(id) => *id,
            // `r += 1` does not introduce a register.
            None if op.is_some() => return,
            None => {
                let name = ast::Name { text: name.clone(), span: place.span };
                self.add_register(&name, None, false)
            }
        };
        implicit.push((id, value));
    }

    /// Returns whether an expression is a number or a constant.
    fn is_constant(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            Ast::Number(_) => true,
            Ast::Paren(inner) | Ast::Unary(UnOp::Neg, inner) => self.is_constant(inner),
            Ast::Name(name) => {
                !self.by_name.contains_key(name)
                    && matches!(self.globals.get(name), Some((Global::Const(..), _)))
            }
            Ast::Bool(_)
            | Ast::Null
            | Ast::Unary(UnOp::Not | UnOp::BitNot, _)
            | Ast::Binary(..)
            | Ast::Select(..)
            | Ast::Index(..)
            | Ast::Field(..)
            | Ast::Call(..)
            | Ast::Method(..)
            | Ast::ChooseRange(_)
            | Ast::ChooseList(_)
            | Ast::New(_)
            | Ast::At(..) => false,
        }
    }

    /// Infers the type of an expression without reporting errors.
    fn infer(&self, expr: &ast::Expr) -> Option<Ty> {
        match &expr.kind {
            Ast::Number(number) => Ty::of_literal((*number).into()),
            Ast::ChooseRange(_) => Some(Ty::Int),
            Ast::Bool(_) => Some(Ty::Bool),
            Ast::Null => Some(Ty::Null),
            Ast::Name(name) => {
                if let Some(id) = self.by_name.get(name) {
                    let register = &self.registers[id.index()];
                    return register.typed.then_some(register.local.ty.ty);
                }
                if let Some(array) = self.arrays.get(name) {
                    return Some(array.ty.ty);
                }
                match self.globals.get(name)?.0 {
                    Global::Const(_, ty) => Some(ty),
                    Global::Shared(id) => Some(self.globals.shared[id.index()].ty.ty),
                    Global::Enum(_)
                    | Global::Record(_)
                    | Global::ValueRecord(_)
                    | Global::RecordVar(_)
                    | Global::Proc(_)
                    | Global::Thread(_)
                    | Global::Invalid => None,
                }
            }
            Ast::Paren(inner) => self.infer(inner),
            Ast::Unary(UnOp::Not, _) => Some(Ty::Bool),
            Ast::Unary(UnOp::Neg, a) => match a.kind {
                Ast::Number(number) => Ty::of_literal(-i128::from(number)),
                _ => self.infer(a),
            },
            Ast::Unary(UnOp::BitNot, a) => self.infer(a),
            Ast::Binary(op, ..) if is_boolean(*op) => Some(Ty::Bool),
            Ast::Binary(BinOp::Shl | BinOp::Shr, a, _) => self.infer(a),
            Ast::Binary(op, a, b) if is_arithmetic(*op) => {
                let (left, right) = (self.infer(a)?, self.infer(b)?);
                // A large literal takes the type of the other operand.
                match (self.is_constant(a), self.is_constant(b)) {
                    (true, false) => Some(right),
                    (false, true) => Some(left),
                    (true, true) | (false, false) => left.join(right),
                }
            }
            Ast::Binary(_, a, b) => self.infer(a).or_else(|| self.infer(b)),
            Ast::Select(_, a, b) => match self.infer(a) {
                None | Some(Ty::Null) => self.infer(b),
                Some(ty) => Some(ty),
            },
            Ast::Index(base, _) => self.infer(base),
            Ast::Field(base, field) => {
                if let Ast::Name(name) = &split_indices(base).0.kind
                    && let Some((Global::RecordVar(at), _)) = self.globals.get(name)
                {
                    let record = self.globals.record_vars[at].record;
                    let fields = &self.globals.value_records[record].fields;
                    return fields.iter().find(|f| f.name == field.text).map(|f| f.ty.ty);
                }
                let Some(Ty::Ref(pool)) = self.infer(base) else {
                    return None;
                };
                let fields = &self.globals.records[pool.index()].fields;
                fields.iter().find(|f| f.name == field.text).map(|f| f.ty.ty)
            }
            Ast::Call(name, args) => match name.text.as_str() {
                "cas" => Some(Ty::Bool),
                "cmpxchg" | "swap" | "fetch_and" | "fetch_or" | "fetch_xor" => {
                    args.first().and_then(|a| self.infer(a))
                }
                "fetch_add" | "fetch_sub" => args.first().and_then(|a| self.infer(a)),
                proc => match self.globals.get(proc)?.0 {
                    Global::Proc(id) => self.globals.procs[id.index()].returns.map(|r| r.ty),
                    Global::Const(..)
                    | Global::Enum(_)
                    | Global::Record(_)
                    | Global::ValueRecord(_)
                    | Global::Shared(_)
                    | Global::RecordVar(_)
                    | Global::Thread(_)
                    | Global::Invalid => None,
                },
            },
            Ast::Method(base, name, _) => match name.text.as_str() {
                "cas" | "compare_exchange" => Some(Ty::Bool),
                _ => self.infer(base),
            },
            Ast::ChooseList(list) => list.iter().find_map(|e| self.infer(e)),
            Ast::At(..) => Some(Ty::Bool),
            Ast::New(name) => match self.globals.get(&name.text)?.0 {
                Global::Record(pool) => Some(Ty::Ref(pool)),
                Global::Const(..)
                | Global::Enum(_)
                | Global::ValueRecord(_)
                | Global::Shared(_)
                | Global::RecordVar(_)
                | Global::Proc(_)
                | Global::Thread(_)
                | Global::Invalid => None,
            },
        }
    }
}

/// Returns the registers assigned in bodies, each with the name of one such body. For hints about
/// names that are not shared.
pub(super) fn assigned_registers(file: &ast::File) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for item in &file.items {
        let (name, block) = match &item.kind {
            ast::ItemKind::Thread(thread) => (&thread.name.text, &thread.body),
            ast::ItemKind::Procedure(procedure) => (&procedure.name.text, &procedure.body),
            ast::ItemKind::Const(..)
            | ast::ItemKind::Enum(..)
            | ast::ItemKind::Record(..)
            | ast::ItemKind::Pool(..)
            | ast::ItemKind::Shared(..)
            | ast::ItemKind::Init(_)
            | ast::ItemKind::Finally(_)
            | ast::ItemKind::Client(_)
            | ast::ItemKind::Property(..)
            | ast::ItemKind::Final(..)
            | ast::ItemKind::Invariant(_)
            | ast::ItemKind::Observe(_) => continue,
        };
        for register in assigned_names(block) {
            found.entry(register.to_string()).or_insert_with(|| name.clone());
        }
    }
    found
}
