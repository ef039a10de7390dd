//! Declarations of variables, types and functions, at file scope and in blocks.

use fencepost_ir::Span;

use super::conversions::compatible;
use super::layout::LARGEST;
use super::scopes::Symbol;
use super::{Checker, Global, UNSIZED};
use crate::c::ast;
use crate::c::codes;
use crate::c::source_map::FileKind;
use crate::c::typed::{Init, Stmt, StmtKind, Type, TypeKind, Variable};

impl Checker<'_> {
    /// Checks a declaration. Local variables become statements of `out`.
    pub(super) fn declaration(&mut self, declaration: &ast::Declaration, out: &mut Vec<Stmt>) {
        let specifiers = &declaration.specifiers;
        let is_auto = matches!(specifiers.ty, ast::TypeSpecifier::Auto);
        let base = if is_auto { None } else { self.specifiers(specifiers) };
        for init in &declaration.declarators {
            let Some(name) = &init.declarator.name else { continue };
            let ty = match &base {
                Some(base) => self.declarator(base.clone(), &init.declarator),
                None if is_auto => self.auto_type(init, specifiers),
                None => None,
            };
            match ty {
                Some(ty) => self.declarator_of_type(specifiers, init, name, ty, out),
                None => self.scopes.declare(&name.text, Symbol::Invalid, name.span),
            }
        }
    }

    /// Returns the type of `__auto_type x = value`.
    fn auto_type(
        &mut self,
        init: &ast::InitDeclarator,
        specifiers: &ast::Specifiers,
    ) -> Option<Type> {
        match &init.initializer {
            Some(ast::Initializer::Expr(value)) => {
                self.unevaluated += 1;
                let value = self.value(value);
                self.unevaluated -= 1;
                Some(Type { qualifiers: specifiers.qualifiers, ..value?.ty })
            }
            Some(ast::Initializer::List(..)) | None => self.specifiers(specifiers),
        }
    }

    fn declarator_of_type(
        &mut self,
        specifiers: &ast::Specifiers,
        init: &ast::InitDeclarator,
        name: &ast::Name,
        ty: Type,
        out: &mut Vec<Stmt>,
    ) {
        if specifiers.storage == ast::Storage::Typedef {
            self.name_record(&ty, name);
            return self.declare(name, Symbol::Typedef(ty));
        }
        match ty.kind {
            TypeKind::Function(function) => {
                if init.initializer.is_some() {
                    let message = format!("the function `{}` has an initialiser", name.text);
                    self.error(codes::INITIALIZER, name.span, message);
                }
                self.declare_function(name, *function, None);
                return;
            }
            TypeKind::Void => {
                let message = format!("the variable `{}` has type `void`", name.text);
                self.error(codes::DECLARATION, name.span, message);
                return self.scopes.declare(&name.text, Symbol::Invalid, name.span);
            }
            _ => {}
        }
        let variable = Variable {
            name: name.text.clone(),
            ty,
            span: name.span,
            thread_local: specifiers.thread_local,
            address_taken: false,
            init: None,
        };
        match (self.scopes.is_file(), specifiers.storage) {
            (true, storage) => {
                let defines = storage != ast::Storage::Extern || init.initializer.is_some();
                self.file_variable(variable, name, defines, init.initializer.as_ref());
            }
            (false, ast::Storage::Extern) => self.local_extern(variable, name),
            (false, ast::Storage::Static) => {
                self.static_local(variable, name, init.initializer.as_ref());
            }
            (false, ast::Storage::None | ast::Storage::Typedef) => {
                self.local_variable(variable, name, init, out);
            }
        }
    }

    /// Names a record without a tag after its first `typedef`.
    fn name_record(&mut self, ty: &Type, name: &ast::Name) {
        if let TypeKind::Record(id) = ty.kind {
            let record = &mut self.records[id.0 as usize];
            if matches!(record.name.as_str(), "struct" | "union") {
                record.name.clone_from(&name.text);
            }
        }
    }

    /// Declares a name in the current scope, or reports that it exists.
    pub(super) fn declare(&mut self, name: &ast::Name, symbol: Symbol) {
        if let Some((other, span)) = self.scopes.find_here(&name.text).cloned() {
            // A `typedef` may be repeated.
            let same =
                matches!((&other, &symbol), (Symbol::Typedef(a), Symbol::Typedef(b)) if a == b);
            if !same && other != Symbol::Invalid {
                self.duplicate(name, &other, span);
            }
        }
        self.scopes.declare(&name.text, symbol, name.span);
    }

    pub(super) fn duplicate(&mut self, name: &ast::Name, other: &Symbol, span: Span) {
        let message = format!("`{}` is already {}", name.text, other.describe());
        self.error(codes::DUPLICATE, name.span, message)
            .label("declared again here")
            .related(span, "the first declaration");
    }

    /// Declares or defines a variable at file scope.
    fn file_variable(
        &mut self,
        variable: Variable,
        name: &ast::Name,
        defines: bool,
        initializer: Option<&ast::Initializer>,
    ) {
        let known = self.scopes.find_here(&name.text).cloned();
        let index = match known {
            Some((Symbol::Global(index), span)) => {
                let old = &mut self.globals[index as usize];
                if !compatible(&old.variable.ty, &variable.ty) {
                    let (old, new) = (old.variable.ty.clone(), variable.ty);
                    return self.other_type(name, &old, &new, span);
                }
                old.defined |= defines;
                old.variable.thread_local |= variable.thread_local;
                if old.variable.init.is_some() && initializer.is_some() {
                    let message = format!("`{}` has two initialisers", name.text);
                    self.error(codes::DUPLICATE, name.span, message).related(span, "the other one");
                    return;
                }
                if matches!(old.variable.ty.kind, TypeKind::Array(_, UNSIZED)) {
                    old.variable.ty = variable.ty;
                }
                index
            }
            Some((Symbol::Invalid, _)) => return,
            Some((other, span)) => return self.duplicate(name, &other, span),
            None => {
                let index = self.add_global(variable, defines);
                self.scopes.declare(&name.text, Symbol::Global(index), name.span);
                index
            }
        };
        if let Some(initializer) = initializer {
            self.initialize_global(index, initializer);
        }
    }

    fn other_type(&mut self, name: &ast::Name, old: &Type, new: &Type, span: Span) {
        let (old, new) = (self.type_text(old), self.type_text(new));
        let message = format!("`{}` is declared with two types", name.text);
        self.error(codes::DUPLICATE, name.span, message)
            .label(format!("here it has type `{new}`"))
            .related(span, format!("here it has type `{old}`"));
    }

    /// Adds a variable with static storage duration.
    pub(super) fn add_global(&mut self, variable: Variable, defined: bool) -> u32 {
        self.globals.push(Global { variable, defined, invalid: false });
        (self.globals.len() - 1) as u32
    }

    fn initialize_global(&mut self, index: u32, initializer: &ast::Initializer) {
        let ty = self.globals[index as usize].variable.ty.clone();
        let span = self.globals[index as usize].variable.span;
        let init = self.initializer(&ty, initializer, span, true);
        let global = &mut self.globals[index as usize];
        match init {
            Some((ty, init)) => {
                global.variable.ty = ty;
                global.variable.init = Some(init);
            }
            None => global.invalid = true,
        }
    }

    /// `extern` in a block: the variable of the file with that name.
    fn local_extern(&mut self, variable: Variable, name: &ast::Name) {
        let symbol = match self.scopes.find_in_file(&name.text) {
            Some((symbol, _)) => symbol.clone(),
            None => {
                let index = self.add_global(variable, false);
                self.scopes.declare_in_file(&name.text, Symbol::Global(index), name.span);
                Symbol::Global(index)
            }
        };
        self.declare(name, symbol);
    }

    /// A `static` local variable: a global whose name starts with that of the function.
    fn static_local(
        &mut self,
        variable: Variable,
        name: &ast::Name,
        initializer: Option<&ast::Initializer>,
    ) {
        let full = self.made_name(&format!("{}.{}", self.body.name, name.text));
        let index = self.add_global(Variable { name: full, ..variable }, true);
        self.declare(name, Symbol::Global(index));
        if let Some(initializer) = initializer {
            self.initialize_global(index, initializer);
        }
    }

    /// Returns a name that no other global has.
    pub(super) fn made_name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut number = 2;
        while !self.made_names.insert(name.clone()) {
            name = format!("{wanted}.{number}");
            number += 1;
        }
        name
    }

    fn local_variable(
        &mut self,
        variable: Variable,
        name: &ast::Name,
        init: &ast::InitDeclarator,
        out: &mut Vec<Stmt>,
    ) {
        let ty = variable.ty.clone();
        let local = self.add_local(variable);
        self.declare(name, Symbol::Local(local));
        let value = match &init.initializer {
            Some(initializer) => {
                let Some((ty, value)) = self.initializer(&ty, initializer, name.span, false) else {
                    return;
                };
                self.body.locals[local as usize].ty = ty;
                Some(value)
            }
            None => None,
        };
        let ty = self.body.locals[local as usize].ty.clone();
        if self.object_size(&ty, name.span).is_some() {
            out.push(declare_stmt(local, value, init.declarator.span));
        }
    }

    /// Adds a local variable of the current function.
    pub(super) fn add_local(&mut self, variable: Variable) -> u32 {
        self.body.locals.push(variable);
        (self.body.locals.len() - 1) as u32
    }

    /// Returns the size of an object, or reports an incomplete type or a size limit.
    fn object_size(&mut self, ty: &Type, span: Span) -> Option<u64> {
        let size = self.complete_size(ty, span)?;
        if size > LARGEST {
            self.error(codes::OBJECT_TOO_LARGE, span, "this variable is too large")
                .hint(format!("a variable has at most {LARGEST} bytes"));
            return None;
        }
        Some(size)
    }

    /// Completes the types of globals from an index on.
    pub(super) fn complete_globals(&mut self, first: usize) {
        for index in first..self.globals.len() {
            let global = &mut self.globals[index];
            if let TypeKind::Array(_, count) = &mut global.variable.ty.kind
                && *count == UNSIZED
            {
                // A tentative definition without a size has one element.
                *count = u64::from(global.defined);
            }
            let global = &self.globals[index];
            if global.defined && !global.invalid {
                let (ty, span) = (global.variable.ty.clone(), global.variable.span);
                self.object_size(&ty, span);
            }
        }
    }

    /// Reports the use of a variable that is only declared. Variables of our own headers, such as
    /// `stderr`, need no definition.
    pub(super) fn check_defined(&mut self, index: u32, span: Span) {
        let global = &self.globals[index as usize];
        let (declared, name) = (global.variable.span, global.variable.name.clone());
        let is_ours = self.sources.file(declared).is_some_and(|f| f.kind == FileKind::BuiltIn);
        let is_known = global.defined || global.invalid || is_ours;
        if is_known || self.unevaluated > 0 || !self.body.is_function {
            return;
        }
        self.globals[index as usize].invalid = true;
        self.error(codes::UNDEFINED_VARIABLE, span, format!("`{name}` has no definition"))
            .label("used here")
            .related(declared, "declared here with `extern`")
            .hint("define the variable: fencepost checks whole programs");
    }
}

/// Returns the statement that begins the lifetime of a local variable.
pub(super) fn declare_stmt(local: u32, init: Option<Init>, span: Span) -> Stmt {
    Stmt { kind: StmtKind::Declare { local, init }, span }
}
