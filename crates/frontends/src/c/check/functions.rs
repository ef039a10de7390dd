//! Functions: declarations, definitions and the checking of bodies.

use std::collections::BTreeMap;

use fencepost_ir::Span;

use super::conversions::compatible;
use super::scopes::Symbol;
use super::{Checker, FunctionInfo};
use crate::c::ast;
use crate::c::codes;
use crate::c::source_map::FileKind;
use crate::c::typed::{Function, FunctionId, FunctionType, IntType, Type, TypeKind, Variable};

/// A label of the current function.
#[derive(Debug)]
pub(super) struct Label {
    pub(super) name: String,
    /// The position of the first use.
    pub(super) used: Span,
    /// The position of the label itself.
    pub(super) defined: Option<Span>,
}

/// A `switch` around the current statement.
#[derive(Debug)]
pub(super) struct Switch {
    pub(super) ty: IntType,
    /// The ranges of the cases: the last value and the position, by first value.
    pub(super) cases: BTreeMap<i64, (i64, Span)>,
    pub(super) default: Option<Span>,
}

/// The state of the function whose body is checked.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) name: String,
    /// Whether there is a function. At file scope there is none.
    pub(super) is_function: bool,
    pub(super) result: Option<Type>,
    pub(super) locals: Vec<Variable>,
    pub(super) labels: Vec<Label>,
    pub(super) switches: Vec<Switch>,
    /// The number of loops around the current statement.
    pub(super) loops: u32,
}

impl<'a> Checker<'a> {
    /// Checks the declaration part of a function definition. The body follows on demand.
    pub(super) fn function_definition(&mut self, definition: &'a ast::FunctionDefinition) {
        let Some(name) = &definition.declarator.name else { return };
        let ty = self
            .specifiers(&definition.specifiers)
            .and_then(|base| self.declarator(base, &definition.declarator));
        match ty.map(|ty| ty.kind) {
            Some(TypeKind::Function(ty)) => {
                self.declare_function(name, *ty, Some(definition));
            }
            Some(_) => {
                let message = format!("`{}` is not a function, but has a body", name.text);
                self.error(codes::DECLARATION, name.span, message);
            }
            None => self.scopes.declare(&name.text, Symbol::Invalid, name.span),
        }
    }

    /// Declares a function, at file scope even inside a block.
    pub(super) fn declare_function(
        &mut self,
        name: &ast::Name,
        ty: FunctionType,
        definition: Option<&'a ast::FunctionDefinition>,
    ) {
        match self.scopes.find_in_file(&name.text).cloned() {
            Some((Symbol::Function(index), span)) => {
                self.redeclare_function(index, name, ty, definition, span);
            }
            Some((Symbol::Invalid, _)) => {}
            Some((other, span)) => self.duplicate(name, &other, span),
            None => {
                let (text, span) = (name.text.clone(), name.span);
                let index = self.functions.len();
                self.functions.push(FunctionInfo { name: text, ty, span, definition, id: None });
                self.scopes.declare_in_file(&name.text, Symbol::Function(index), span);
            }
        }
    }

    fn redeclare_function(
        &mut self,
        index: usize,
        name: &ast::Name,
        ty: FunctionType,
        definition: Option<&'a ast::FunctionDefinition>,
        span: Span,
    ) {
        let as_type = |ty: &FunctionType| Type::plain(TypeKind::Function(Box::new(ty.clone())));
        let info = &mut self.functions[index];
        let old = as_type(&info.ty);
        if let (Some(_), Some(_)) = (info.definition, definition) {
            let message = format!("the function `{}` has two bodies", name.text);
            self.error(codes::DUPLICATE, name.span, message).related(span, "the other body");
            return;
        }
        // Programs declare library functions by hand, with types that are not quite right.
        let is_ours = self.sources.file(span).is_some_and(|file| file.kind == FileKind::BuiltIn);
        if !compatible(&old, &as_type(&ty)) && !is_ours {
            let (new, old) = (self.type_text(&as_type(&ty)), self.type_text(&old));
            let message = format!("the function `{}` is declared with two types", name.text);
            self.error(codes::DUPLICATE, name.span, message)
                .label(format!("here it has type `{new}`"))
                .related(span, format!("here it has type `{old}`"));
            return;
        }
        let info = &mut self.functions[index];
        if definition.is_some() {
            info.span = name.span;
            info.definition = definition;
        }
        let says_more = !ty.parameters.is_empty() || !ty.variadic;
        if definition.is_some() || (info.definition.is_none() && says_more) {
            info.ty = ty;
        }
    }

    /// Returns the number of a function in the typed tree. Its body is checked later.
    pub(super) fn function_id(&mut self, index: usize) -> FunctionId {
        if let Some(id) = self.functions[index].id {
            return id;
        }
        let id = FunctionId(self.used.len() as u32);
        self.used.push(index);
        self.functions[index].id = Some(id);
        id
    }

    /// Checks the body of a function.
    pub(super) fn function_body(&mut self, index: usize) -> Function {
        let info = &self.functions[index];
        let (name, ty, span) = (info.name.clone(), info.ty.clone(), info.span);
        let definition = info.definition;
        let built_in = self.sources.file(span).is_some_and(|file| file.kind == FileKind::BuiltIn);
        self.body = Body {
            name: name.clone(),
            is_function: true,
            result: Some(ty.result.clone()),
            ..Body::default()
        };
        let mut body = Vec::new();
        let mut close = span;
        if let Some(definition) = definition {
            close = definition.body.close;
            self.complete_size(&ty.result, span);
            self.scopes.push();
            self.declare_parameters(definition, &ty);
            for item in &definition.body.items {
                self.statement(item, &mut body);
            }
            self.scopes.pop();
            self.check_labels();
        }
        let done = std::mem::take(&mut self.body);
        Function {
            name,
            parameters: ty.parameters.len() as u32,
            ty,
            locals: done.locals,
            labels: done.labels.into_iter().map(|label| label.name).collect(),
            body,
            span,
            close,
            built_in,
        }
    }

    fn declare_parameters(&mut self, definition: &ast::FunctionDefinition, ty: &FunctionType) {
        let parameters = match definition.declarator.derivations.first() {
            Some(ast::Derivation::Function(parameters)) => parameters.list.as_slice(),
            _ => &[],
        };
        for (position, ty) in ty.parameters.iter().enumerate() {
            let declarator = parameters.get(position).map(|parameter| &parameter.declarator);
            let name = declarator.and_then(|declarator| declarator.name.clone());
            let local = self.add_local(Variable {
                name: name.as_ref().map_or(String::new(), |name| name.text.clone()),
                ty: ty.clone(),
                span: declarator.map_or(definition.declarator.span, |declarator| declarator.span),
                thread_local: false,
                address_taken: false,
                init: None,
            });
            if let Some(name) = name {
                if matches!(ty.kind, TypeKind::Record(_)) {
                    self.complete_size(ty, name.span);
                }
                self.declare(&name, Symbol::Local(local));
            }
        }
    }

    /// Returns the number of a label.
    pub(super) fn label(&mut self, name: &ast::Name) -> u32 {
        let labels = &mut self.body.labels;
        let known = labels.iter().position(|label| label.name == name.text);
        let index = known.unwrap_or_else(|| {
            labels.push(Label { name: name.text.clone(), used: name.span, defined: None });
            labels.len() - 1
        });
        index as u32
    }

    /// Reports `goto`s without a label.
    fn check_labels(&mut self) {
        let labels = std::mem::take(&mut self.body.labels);
        let defined = labels.iter().filter(|label| label.defined.is_some());
        let known: Vec<&str> = defined.map(|label| label.name.as_str()).collect();
        for label in labels.iter().filter(|label| label.defined.is_none()) {
            let hint = self.suggestion(&label.name, &known);
            let message = format!("there is no label `{}` in this function", label.name);
            self.error(codes::JUMP, label.used, message).hint = hint;
        }
        self.body.labels = labels;
    }
}
