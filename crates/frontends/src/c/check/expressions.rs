//! Expressions: names, literals, members, casts and types. [Operators](super::operators) and
//! [calls](super::calls) have their own files.

use fencepost_ir::Span;

use super::constants::wrap;
use super::conversions::{constant, convert, is_scalar, unqualified};
use super::scopes::Symbol;
use super::{Checker, long, void};
use crate::c::ast;
use crate::c::codes;
use crate::c::typed::{
    Access, Expr, ExprKind, Init, InitItem, IntType, Place, PlaceKind, RecordId, Type, TypeKind,
    Variable, VariableId,
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
                        VariableId::Global(index) => {
                            &mut self.globals[*index as usize].variable
                        }
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
    pub(super) fn operand(&mut self, expr: &ast::Expr) -> Option<Operand> {
        let span = expr.span;
        let value = match &expr.kind {
            ast::ExprKind::Integer { value, bits, signed } => {
                let int = IntType { bits: *bits, signed: *signed, is_bool: false };
                constant(wrap(*value as i64, int), Type::plain(TypeKind::Int(int)), span)
            }
            ast::ExprKind::String(text) => {
                return Some(Operand::Place(self.string(&string_bytes(text), span)));
            }
            ast::ExprKind::Name(name) => return self.name(name, span),
            ast::ExprKind::Float => {
                self.unsupported_type("double", span);
                return None;
            }
            ast::ExprKind::Unary { op, operand } => return self.unary(*op, operand, span),
            ast::ExprKind::Step { increment, prefix, operand } => {
                self.step(*increment, *prefix, operand, span)?
            }
            ast::ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.value(left), self.value(right));
                self.binary(*op, left?, right?, span)?
            }
            ast::ExprKind::LogicalAnd(left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                let kind = ExprKind::And(Box::new(left?), Box::new(right?));
                Expr { kind, ty: super::int(), span }
            }
            ast::ExprKind::LogicalOr(left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                let kind = ExprKind::Or(Box::new(left?), Box::new(right?));
                Expr { kind, ty: super::int(), span }
            }
            ast::ExprKind::Conditional { condition, then, otherwise } => {
                self.conditional(condition, then.as_deref(), otherwise, span)?
            }
            ast::ExprKind::Assign { op, target, value } => {
                self.assignment(*op, target, value, span)?
            }
            ast::ExprKind::Comma(left, right) => {
                let (left, right) = (self.effect(left), self.value(right));
                let (left, right) = (left?, right?);
                let ty = right.ty.clone();
                Expr { kind: ExprKind::Comma(Box::new(left), Box::new(right)), ty, span }
            }
            ast::ExprKind::Call { function, arguments } => self.call(function, arguments, span)?,
            ast::ExprKind::Index { base, index } => {
                return self.index(base, index, span);
            }
            ast::ExprKind::Member { base, arrow, field } => {
                return self.member(base, *arrow, field, span).map(Operand::Place);
            }
            ast::ExprKind::Cast { ty, operand } => self.cast(ty, operand, span)?,
            ast::ExprKind::Compound { ty, initializer } => {
                return self.compound_literal(ty, initializer, span).map(Operand::Place);
            }
            ast::ExprKind::SizeofType(name) => {
                let ty = self.type_name(name)?;
                self.size_constant(&ty, span)?
            }
            ast::ExprKind::SizeofExpr(operand) => {
                let ty = self.type_of(operand)?;
                self.size_constant(&ty, span)?
            }
            ast::ExprKind::AlignofType(name) => {
                let ty = self.type_name(name)?;
                self.complete_size(&ty, span)?;
                constant(self.align_of(&ty)? as i64, size_type(), span)
            }
            ast::ExprKind::Offsetof { ty, path } => self.offsetof(ty, path, span)?,
            ast::ExprKind::StatementExpr(block) => self.statement_expr(block, span)?,
            ast::ExprKind::Generic { control, cases } => {
                return self.generic(control, cases, span);
            }
            ast::ExprKind::TypesCompatible(left, right) => {
                let (left, right) = (self.type_name(left)?, self.type_name(right)?);
                constant(i64::from(left.kind == right.kind), super::int(), span)
            }
            ast::ExprKind::ChooseExpr { condition, then, otherwise } => {
                let chosen = self.constant(condition)? != 0;
                return self.operand(if chosen { then } else { otherwise });
            }
            ast::ExprKind::Unsupported(what) => {
                self.error(codes::UNSUPPORTED, span, format!("`{what}` is not supported"));
                return None;
            }
        };
        Some(Operand::Value(value))
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

    fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Option<Operand> {
        let (base, index) = (self.operand(base), self.operand(index));
        let (mut base, mut index) = (base?, index?);
        // `i[a]` is `a[i]`.
        if let Operand::Value(Expr { ty, .. }) | Operand::Place(Place { ty, .. }) = &base
            && matches!(ty.kind, TypeKind::Int(_))
        {
            (base, index) = (index, base);
        }
        let index = self.rvalue(index)?;
        if !matches!(index.ty.kind, TypeKind::Int(_)) {
            let message = format!("an index has type `{}`", self.type_text(&index.ty));
            self.error(codes::TYPE_MISMATCH, index.span, message).label("an integer is required");
            return None;
        }
        if let Operand::Place(place) = &base
            && let TypeKind::Array(element, _) = &place.ty.kind
        {
            let ty = (**element).clone();
            let index = Box::new(convert(index, &long()));
            let kind = PlaceKind::Index(Box::new(place.clone()), index);
            return Some(Operand::Place(Place { kind, ty, span }));
        }
        let base = self.rvalue(base)?;
        let TypeKind::Pointer(_) = base.ty.kind else {
            let message = format!(
                "`[]` needs an array or a pointer, but this has type `{}`",
                self.type_text(&base.ty)
            );
            self.error(codes::TYPE_MISMATCH, base.span, message);
            return None;
        };
        let pointer = self.pointer_add(base, index, false, span)?;
        self.dereference(pointer, span)
    }

    fn member(
        &mut self,
        base: &ast::Expr,
        arrow: bool,
        field: &ast::Name,
        span: Span,
    ) -> Option<Place> {
        let operand = match (&base.kind, arrow) {
            // `(&x)->f` is `x.f`.
            (ast::ExprKind::Unary { op: ast::UnaryOp::Address, operand }, true) => {
                self.operand(operand)?
            }
            (_, true) => {
                let pointer = self.value(base)?;
                if let TypeKind::Record(_) = pointer.ty.kind {
                    let ty = self.type_text(&pointer.ty);
                    let message = format!("`->` needs a pointer, but this has type `{ty}`");
                    self.error(codes::TYPE_MISMATCH, base.span, message)
                        .hint(format!("write `.{}`", field.text));
                    return None;
                }
                self.dereference(pointer, base.span)?
            }
            (_, false) => self.operand(base)?,
        };
        let place = match operand {
            Operand::Place(place) => place,
            Operand::Value(value) | Operand::Function(value) => {
                let (ty, span) = (value.ty.clone(), value.span);
                Place { kind: PlaceKind::Value(Box::new(value)), ty, span }
            }
        };
        let TypeKind::Record(id) = place.ty.kind else {
            let is_pointer = match &place.ty.kind {
                TypeKind::Pointer(to) => matches!(to.kind, TypeKind::Record(_)),
                _ => false,
            };
            let ty = self.type_text(&place.ty);
            let message = format!("a value of type `{ty}` has no fields");
            let found = self.error(codes::TYPE_MISMATCH, base.span, message);
            if is_pointer && !arrow {
                found.hint(format!("the value is a pointer: write `->{}`", field.text));
            }
            return None;
        };
        self.field(place, id, field, span)
    }

    /// Returns the place of a field, through anonymous members.
    fn field(
        &mut self,
        base: Place,
        id: RecordId,
        name: &ast::Name,
        span: Span,
    ) -> Option<Place> {
        self.complete_size(&base.ty, base.span)?;
        let path = self.field_path(id, name)?;
        let mut place = base;
        let mut id = id;
        for position in path {
            let field = &self.record(id).fields[position];
            let Some(index) = field.index else {
                self.report_bit_field(&name.text, name.span);
                return None;
            };
            let mut ty = field.ty.clone();
            ty.qualifiers.volatile |= place.ty.qualifiers.volatile;
            if let TypeKind::Record(inner) = ty.kind {
                id = inner;
            }
            place = Place { kind: PlaceKind::Field(Box::new(place), index), ty, span };
        }
        Some(place)
    }

    pub(super) fn report_bit_field(&mut self, name: &str, span: Span) {
        self.error(codes::BIT_FIELD, span, format!("`{name}` is a bit field"))
            .label("accesses to bit fields are not supported")
            .hint("give the field a type of its own size, such as `unsigned char`");
    }

    /// Returns the positions of a field and the anonymous members around it, or reports that there
    /// is no such field.
    pub(super) fn field_path(&mut self, id: RecordId, name: &ast::Name) -> Option<Vec<usize>> {
        if let Some(path) = self.find_field(id, &name.text) {
            return Some(path);
        }
        if self.record(id).invalid {
            return None;
        }
        let names = self.field_names(id);
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let hint = self.suggestion(&name.text, &known).or_else(|| {
            let shown: Vec<String> = known.iter().take(8).map(|name| format!("`{name}`")).collect();
            (!shown.is_empty()).then(|| format!("its fields are {}", shown.join(", ")))
        });
        let record = self.record(id);
        let (declared, text) = (record.span, record.name.clone());
        let message = format!("`{text}` has no field `{}`", name.text);
        let found = self.error(codes::UNKNOWN_FIELD, name.span, message);
        found.related(declared, format!("`{text}` is defined here"));
        found.hint = hint;
        None
    }

    fn find_field(&self, id: RecordId, name: &str) -> Option<Vec<usize>> {
        for (position, field) in self.record(id).fields.iter().enumerate() {
            if field.name == name {
                return Some(vec![position]);
            }
            if let TypeKind::Record(inner) = field.ty.kind
                && field.name.is_empty()
                && let Some(path) = self.find_field(inner, name)
            {
                return Some([vec![position], path].concat());
            }
        }
        None
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
            _ if is_scalar(&value.ty) && is_scalar(&ty) => Some(Expr { span, ..convert(value, &ty) }),
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
    ) -> Option<Place> {
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
            return Some(Place { kind, ty, span });
        }
        let variable = VariableId::Local(self.add_local(variable));
        Some(Place { kind: PlaceKind::Compound { variable, init: Box::new(init) }, ty, span })
    }

    fn offsetof(
        &mut self,
        name: &ast::TypeName,
        path: &[ast::Designator],
        span: Span,
    ) -> Option<Expr> {
        let mut ty = self.type_name(name)?;
        self.complete_size(&ty, name.span)?;
        let mut offset = 0i64;
        for designator in path {
            match (designator, ty.kind) {
                (ast::Designator::Field(field), TypeKind::Record(mut id)) => {
                    let positions = self.field_path(id, field)?;
                    ty = void();
                    for position in positions {
                        let info = &self.record(id).fields[position];
                        if info.index.is_none() {
                            self.report_bit_field(&field.text, field.span);
                            return None;
                        }
                        offset += info.offset as i64;
                        ty = info.ty.clone();
                        if let TypeKind::Record(inner) = ty.kind {
                            id = inner;
                        }
                    }
                }
                (ast::Designator::Index(index), TypeKind::Array(element, _)) => {
                    let size = self.size_of(&element)? as i64;
                    offset = offset.wrapping_add(self.constant(index)?.wrapping_mul(size));
                    ty = *element;
                }
                _ => {
                    self.error(codes::TYPE_MISMATCH, span, "`offsetof` needs a path of fields");
                    return None;
                }
            }
        }
        Some(constant(offset, size_type(), span))
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
        if self.diagnostics.iter().skip(errors).any(|d| d.severity == fencepost_ir::Severity::Error) {
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

/// Returns the value of a place.
pub(super) fn load(place: Place) -> Expr {
    let (ty, span, access) = (unqualified(&place.ty), place.span, access(&place.ty));
    Expr { kind: ExprKind::Load(place, access), ty, span }
}
