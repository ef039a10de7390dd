//! Expressions: names, literals, casts and types. [Operators](super::operators),
//! [parts of objects](super::members) and [calls](super::calls) have their own files.

use fencepost_ir::Span;

use super::constants::wrap;
use super::conversions::{constant, convert, is_scalar, unqualified};
use super::scopes::Symbol;
use super::{Checker, long, void};
use crate::c::ast;
use crate::c::codes;
use crate::c::typed::{
    Access, Expr, ExprKind, Init, InitItem, IntType, Place, PlaceKind, Type, TypeKind, Variable,
    VariableId,
};

/// The result of an expression before it becomes a value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Operand {
    /// A place in memory.
    Place(Place),
    /// A value.
    Value(Expr),
    /// A function: its address.
    Function(Expr),
}

/// Returns the access of plain uses of an object.
pub(super) fn access(ty: &Type) -> Access {
    match (ty.qualifiers.atomic, ty.qualifiers.volatile) {
        (true, _) => Access::SeqCst,
        (false, true) => Access::Volatile,
        (false, false) => Access::Plain,
    }
}

/// Returns `unsigned long`, the type of `sizeof`.
pub(super) fn size_type() -> Type {
    Type::int(64, false)
}

/// Returns the bytes of a string literal, without the final 0. Each escape is one byte.
pub(super) fn string_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u8::try_from(u32::from(c)) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

impl Checker<'_> {
    /// Checks an expression and makes it a value: a place is read, an array becomes the address of
    /// its first element.
    pub(super) fn value(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let operand = self.operand(expr)?;
        let value = self.rvalue(operand)?;
        if let TypeKind::Unsupported { name, .. } = &value.ty.kind {
            let name = name.clone();
            self.unsupported_type(&name, value.span);
            return None;
        }
        Some(value)
    }

    /// Checks an expression whose value is not used.
    pub(super) fn effect(&mut self, expr: &ast::Expr) -> Option<Expr> {
        self.value(expr)
    }

    /// Returns the type of an expression that is not evaluated.
    pub(super) fn type_of(&mut self, expr: &ast::Expr) -> Option<Type> {
        self.unevaluated += 1;
        let operand = self.operand(expr);
        self.unevaluated -= 1;
        Some(match operand? {
            Operand::Place(place) => place.ty,
            Operand::Value(value) => value.ty,
            Operand::Function(value) => match value.ty.kind {
                TypeKind::Pointer(to) => *to,
                _ => value.ty,
            },
        })
    }

    /// Makes an operand a value.
    pub(super) fn rvalue(&mut self, operand: Operand) -> Option<Expr> {
        let place = match operand {
            Operand::Value(value) | Operand::Function(value) => return Some(value),
            Operand::Place(place) => place,
        };
        let span = place.span;
        match &place.ty.kind {
            TypeKind::Array(element, _) => {
                let element = (**element).clone();
                self.mark_address(&place);
                let zero = Box::new(constant(0, long(), span));
                let kind = PlaceKind::Index(Box::new(place), zero);
                let first = Place { kind, ty: element.clone(), span };
                let ty = Type::pointer(element);
                Some(Expr { kind: ExprKind::AddressOf(first), ty, span })
            }
            TypeKind::Void => {
                self.error(codes::TYPE_MISMATCH, span, "a `void *` has no value to read")
                    .hint("cast the pointer to a pointer to the type of the object");
                None
            }
            TypeKind::Unsupported { name, .. } => {
                let name = name.clone();
                self.unsupported_type(&name, span);
                None
            }
            TypeKind::Record(_) => {
                self.complete_size(&place.ty, span)?;
                Some(load(place))
            }
            TypeKind::Int(_) | TypeKind::Pointer(_) | TypeKind::Function(_) => Some(load(place)),
        }
    }

    /// Checks an expression that must be a place in memory.
    pub(super) fn place(&mut self, expr: &ast::Expr, purpose: &str) -> Option<Place> {
        match self.operand(expr)? {
            Operand::Place(place) => Some(place),
            Operand::Value(_) | Operand::Function(_) => {
                let message = format!("this expression cannot be {purpose}");
                self.error(codes::NOT_A_PLACE, expr.span, message)
                    .label("this is a value, not a variable or a part of one");
                None
            }
        }
    }

    /// Notes that the address of a place is used.
    pub(super) fn mark_address(&mut self, place: &Place) {
        if self.unevaluated > 0 {
            return;
        }
        let mut place = place;
        loop {
            match &place.kind {
                PlaceKind::Variable(id) | PlaceKind::Compound { variable: id, .. } => {
                    let variable = match id {
                        VariableId::Global(index) => &mut self.globals[*index as usize].variable,
                        VariableId::Local(index) => &mut self.body.locals[*index as usize],
                    };
                    variable.address_taken = true;
                    return;
                }
                PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => place = base,
                PlaceKind::Deref(_) | PlaceKind::Value(_) => return,
            }
        }
    }

    /// Checks an expression.
    ///
    /// This function and [`Checker::computed`] are on the stack once for each nesting level, so
    /// their arms are calls without temporaries.
    pub(super) fn operand(&mut self, expr: &ast::Expr) -> Option<Operand> {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::String(text) => self.string_operand(text, span),
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::Unary { op, operand } => self.unary(*op, operand, span),
            ast::ExprKind::Index { base, index } => self.index(base, index, span),
            ast::ExprKind::Member { base, arrow, field } => self.member(base, *arrow, field, span),
            ast::ExprKind::Compound { ty, initializer } => {
                self.compound_literal(ty, initializer, span)
            }
            ast::ExprKind::Generic { control, cases } => self.generic(control, cases, span),
            ast::ExprKind::ChooseExpr { condition, then, otherwise } => {
                match self.constant(condition) {
                    Some(0) => self.operand(otherwise),
                    Some(_) => self.operand(then),
                    None => None,
                }
            }
            ast::ExprKind::Integer { .. }
            | ast::ExprKind::Float
            | ast::ExprKind::Step { .. }
            | ast::ExprKind::Binary { .. }
            | ast::ExprKind::LogicalAnd(..)
            | ast::ExprKind::LogicalOr(..)
            | ast::ExprKind::Conditional { .. }
            | ast::ExprKind::Assign { .. }
            | ast::ExprKind::Comma(..)
            | ast::ExprKind::Call { .. }
            | ast::ExprKind::Cast { .. }
            | ast::ExprKind::SizeofType(_)
            | ast::ExprKind::SizeofExpr(_)
            | ast::ExprKind::AlignofType(_)
            | ast::ExprKind::Offsetof { .. }
            | ast::ExprKind::StatementExpr(_)
            | ast::ExprKind::TypesCompatible(..)
            | ast::ExprKind::Unsupported(_) => self.computed(expr).map(Operand::Value),
        }
    }

    /// Checks an expression that is a value.
    fn computed(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Integer { value, bits, signed } => {
                Some(integer(*value, *bits, *signed, span))
            }
            ast::ExprKind::Step { increment, prefix, operand } => {
                self.step(*increment, *prefix, operand, span)
            }
            ast::ExprKind::Binary { op, left, right } => {
                self.binary_operands(*op, left, right, span)
            }
            ast::ExprKind::LogicalAnd(left, right) => self.logical(true, left, right, span),
            ast::ExprKind::LogicalOr(left, right) => self.logical(false, left, right, span),
            ast::ExprKind::Conditional { condition, then, otherwise } => {
                self.conditional(condition, then.as_deref(), otherwise, span)
            }
            ast::ExprKind::Assign { op, target, value } => {
                self.assignment(*op, target, value, span)
            }
            ast::ExprKind::Comma(left, right) => self.comma(left, right, span),
            ast::ExprKind::Call { function, arguments } => self.call(function, arguments, span),
            ast::ExprKind::Cast { ty, operand } => self.cast(ty, operand, span),
            ast::ExprKind::SizeofType(name) => self.size_of_type(name, span),
            ast::ExprKind::SizeofExpr(operand) => self.size_of_operand(operand, span),
            ast::ExprKind::AlignofType(name) => self.align_of_type(name, span),
            ast::ExprKind::Offsetof { ty, path } => self.offsetof(ty, path, span),
            ast::ExprKind::StatementExpr(block) => self.statement_expr(block, span),
            ast::ExprKind::TypesCompatible(left, right) => self.types_compatible(left, right, span),
            ast::ExprKind::Float => {
                self.unsupported_type("double", span);
                None
            }
            ast::ExprKind::Unsupported(what) => {
                self.error(codes::UNSUPPORTED, span, format!("`{what}` is not supported"));
                None
            }
            ast::ExprKind::String(_)
            | ast::ExprKind::Name(_)
            | ast::ExprKind::Unary { .. }
            | ast::ExprKind::Index { .. }
            | ast::ExprKind::Member { .. }
            | ast::ExprKind::Compound { .. }
            | ast::ExprKind::Generic { .. }
            | ast::ExprKind::ChooseExpr { .. } => None,
        }
    }

    fn string_operand(&mut self, text: &str, span: Span) -> Option<Operand> {
        Some(Operand::Place(self.string(&string_bytes(text), span)))
    }

    fn comma(&mut self, left: &ast::Expr, right: &ast::Expr, span: Span) -> Option<Expr> {
        let (left, right) = (self.effect(left), self.value(right));
        let (left, right) = (left?, right?);
        let ty = right.ty.clone();
        Some(Expr { kind: ExprKind::Comma(Box::new(left), Box::new(right)), ty, span })
    }

    fn size_of_type(&mut self, name: &ast::TypeName, span: Span) -> Option<Expr> {
        let ty = self.type_name(name)?;
        self.size_constant(&ty, span)
    }

    fn size_of_operand(&mut self, operand: &ast::Expr, span: Span) -> Option<Expr> {
        let ty = self.type_of(operand)?;
        self.size_constant(&ty, span)
    }

    fn align_of_type(&mut self, name: &ast::TypeName, span: Span) -> Option<Expr> {
        let ty = self.type_name(name)?;
        self.complete_size(&ty, span)?;
        Some(constant(self.align_of(&ty)? as i64, size_type(), span))
    }

    fn types_compatible(
        &mut self,
        left: &ast::TypeName,
        right: &ast::TypeName,
        span: Span,
    ) -> Option<Expr> {
        let (left, right) = (self.type_name(left)?, self.type_name(right)?);
        Some(constant(i64::from(left.kind == right.kind), super::int(), span))
    }

    fn size_constant(&mut self, ty: &Type, span: Span) -> Option<Expr> {
        let size = self.complete_size(ty, span)?;
        Some(constant(size as i64, size_type(), span))
    }

    fn name(&mut self, name: &str, span: Span) -> Option<Operand> {
        let symbol = match self.scopes.find(name) {
            Some((symbol, _)) => symbol.clone(),
            None => return self.undeclared(name, span),
        };
        let (id, ty) = match symbol {
            Symbol::Local(index) => {
                (VariableId::Local(index), self.body.locals[index as usize].ty.clone())
            }
            Symbol::Global(index) => {
                self.check_defined(index, span);
                (VariableId::Global(index), self.globals[index as usize].variable.ty.clone())
            }
            Symbol::Function(index) => {
                return self.function_value(index, span).map(Operand::Function);
            }
            Symbol::Constant(value, ty) => {
                return Some(Operand::Value(constant(value, ty, span)));
            }
            Symbol::Invalid => return None,
            Symbol::Typedef(_) => {
                self.error(codes::UNKNOWN_NAME, span, format!("`{name}` is a type, not a value"));
                return None;
            }
        };
        Some(Operand::Place(Place { kind: PlaceKind::Variable(id), ty, span }))
    }

    fn undeclared(&mut self, name: &str, span: Span) -> Option<Operand> {
        if matches!(name, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") {
            let function = self.body.name.clone();
            return Some(Operand::Place(self.string(function.as_bytes(), span)));
        }
        let known: Vec<&str> = self
            .scopes
            .names()
            .filter(|(_, symbol)| !matches!(symbol, Symbol::Typedef(_) | Symbol::Invalid))
            .map(|(name, _)| name)
            .collect();
        let hint = self.suggestion(name, &known);
        self.error(codes::UNKNOWN_NAME, span, format!("`{name}` is not declared")).hint = hint;
        // Report each name once for each block.
        self.scopes.declare(name, Symbol::Invalid, span);
        None
    }

    /// Returns the address of a function. Its body will be checked.
    pub(super) fn function_value(&mut self, index: usize, span: Span) -> Option<Expr> {
        let info = &self.functions[index];
        let function = TypeKind::Function(Box::new(info.ty.clone()));
        let ty = Type::pointer(Type::plain(function));
        if self.unevaluated > 0 {
            return Some(constant(0, ty, span));
        }
        if info.definition.is_none() {
            let name = info.name.clone();
            self.function_without_body(&name, span);
            return None;
        }
        let id = self.function_id(index);
        Some(Expr { kind: ExprKind::Function(id), ty, span })
    }

    /// Returns the place of a string literal: a global array of `char`.
    pub(super) fn string(&mut self, bytes: &[u8], span: Span) -> Place {
        let char_type = Type::int(8, true);
        let count = bytes.len() as u64 + 1;
        let ty = Type::plain(TypeKind::Array(Box::new(char_type.clone()), count));
        if self.unevaluated > 0 {
            let null = Box::new(constant(0, Type::pointer(ty.clone()), span));
            return Place { kind: PlaceKind::Deref(null), ty, span };
        }
        let index = match self.strings.get(bytes) {
            Some(index) => *index,
            None => {
                let items = bytes.iter().enumerate().map(|(offset, byte)| InitItem {
                    offset: offset as u64,
                    value: constant(i64::from(*byte as i8), char_type.clone(), span),
                });
                let init = Init { zero: true, items: items.collect() };
                let text = String::from_utf8_lossy(bytes);
                let shown: String = text.chars().take(20).collect();
                let name = self.made_name(&format!("{shown:?}"));
                let index = self.add_global(
                    Variable {
                        name,
                        ty: ty.clone(),
                        span,
                        thread_local: false,
                        address_taken: false,
                        init: Some(init),
                    },
                    true,
                );
                self.strings.insert(bytes.to_vec(), index);
                index
            }
        };
        Place { kind: PlaceKind::Variable(VariableId::Global(index)), ty, span }
    }

    /// Returns the place that a pointer points to.
    pub(super) fn dereference(&mut self, pointer: Expr, span: Span) -> Option<Operand> {
        let TypeKind::Pointer(to) = &pointer.ty.kind else {
            let ty = self.type_text(&pointer.ty);
            let message = format!("`*` needs a pointer, but this has type `{ty}`");
            self.error(codes::TYPE_MISMATCH, pointer.span, message);
            return None;
        };
        if matches!(to.kind, TypeKind::Function(_)) {
            return Some(Operand::Function(pointer));
        }
        let ty = (**to).clone();
        Some(Operand::Place(Place { kind: PlaceKind::Deref(Box::new(pointer)), ty, span }))
    }

    fn cast(&mut self, name: &ast::TypeName, operand: &ast::Expr, span: Span) -> Option<Expr> {
        let ty = self.type_name(name)?;
        let value = self.value(operand)?;
        let ty = unqualified(&ty);
        match (&value.ty.kind, &ty.kind) {
            (_, TypeKind::Void) => {
                Some(Expr { kind: ExprKind::Convert(Box::new(value)), ty: void(), span })
            }
            (_, TypeKind::Unsupported { name, .. }) => {
                let name = name.clone();
                self.unsupported_type(&name, span);
                None
            }
            (TypeKind::Record(from), TypeKind::Record(to)) if from == to => Some(value),
            _ if is_scalar(&value.ty) && is_scalar(&ty) => {
                Some(Expr { span, ..convert(value, &ty) })
            }
            _ => {
                let (from, to) = (self.type_text(&value.ty), self.type_text(&ty));
                let message = format!("a value of type `{from}` cannot be cast to `{to}`");
                self.error(codes::TYPE_MISMATCH, span, message);
                None
            }
        }
    }

    fn compound_literal(
        &mut self,
        name: &ast::TypeName,
        items: &[ast::InitializerItem],
        span: Span,
    ) -> Option<Operand> {
        let ty = self.type_name(name)?;
        let is_static = !self.body.is_function;
        let initializer = ast::Initializer::List(items.to_vec(), span);
        let (ty, init) = self.initializer(&ty, &initializer, span, is_static)?;
        self.complete_size(&ty, span)?;
        let name = format!("({})", self.type_text(&ty));
        let variable = Variable {
            name,
            ty: ty.clone(),
            span,
            thread_local: false,
            address_taken: false,
            init: None,
        };
        if is_static {
            let name = self.made_name(&variable.name);
            let index = self.add_global(Variable { name, init: Some(init), ..variable }, true);
            let kind = PlaceKind::Variable(VariableId::Global(index));
            return Some(Operand::Place(Place { kind, ty, span }));
        }
        let variable = VariableId::Local(self.add_local(variable));
        let kind = PlaceKind::Compound { variable, init: Box::new(init) };
        Some(Operand::Place(Place { kind, ty, span }))
    }

    fn statement_expr(&mut self, block: &ast::Block, span: Span) -> Option<Expr> {
        if !self.body.is_function && self.unevaluated == 0 {
            self.error(codes::NOT_CONSTANT, span, "a constant is required here")
                .label("statements are not allowed outside of functions");
            return None;
        }
        self.scopes.push();
        let errors = self.diagnostics.len();
        let mut items = Vec::new();
        for item in &block.items {
            self.statement(item, &mut items);
        }
        self.scopes.pop();
        let ty = match items.last().map(|stmt| &stmt.kind) {
            Some(crate::c::typed::StmtKind::Expr(last)) => last.ty.clone(),
            _ => void(),
        };
        if self.diagnostics.iter().skip(errors).any(|d| d.severity == fencepost_ir::Severity::Error)
        {
            return None;
        }
        Some(Expr { kind: ExprKind::Statements(items), ty, span })
    }

    fn generic(
        &mut self,
        control: &ast::Expr,
        cases: &[(Option<ast::TypeName>, ast::Expr)],
        span: Span,
    ) -> Option<Operand> {
        self.unevaluated += 1;
        let control = self.value(control);
        self.unevaluated -= 1;
        let control = control?.ty;
        let mut default = None;
        for (name, value) in cases {
            match name {
                Some(name) => {
                    if self.type_name(name)? == control {
                        return self.operand(value);
                    }
                }
                None => default = Some(value),
            }
        }
        if let Some(default) = default {
            return self.operand(default);
        }
        let message = format!("`_Generic` has no case for type `{}`", self.type_text(&control));
        self.error(codes::GENERIC, span, message).hint("add the type, or a `default` case");
        None
    }
}

fn integer(value: u64, bits: u8, signed: bool, span: Span) -> Expr {
    let int = IntType { bits, signed, is_bool: false };
    constant(wrap(value as i64, int), Type::plain(TypeKind::Int(int)), span)
}

/// Returns the value of a place.
pub(super) fn load(place: Place) -> Expr {
    let (ty, span, access) = (unqualified(&place.ty), place.span, access(&place.ty));
    Expr { kind: ExprKind::Load(place, access), ty, span }
}
