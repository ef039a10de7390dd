//! Parts of objects: elements of arrays and fields of records.

use fencepost_ir::Span;

use super::conversions::{constant, convert};
use super::expressions::{Operand, size_type};
use super::{Checker, long, void};
use crate::c::ast;
use crate::c::codes;
use crate::c::typed::{Expr, Place, PlaceKind, RecordId, TypeKind};

impl Checker<'_> {
    pub(super) fn index(
        &mut self,
        base: &ast::Expr,
        index: &ast::Expr,
        span: Span,
    ) -> Option<Operand> {
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

    pub(super) fn member(
        &mut self,
        base: &ast::Expr,
        arrow: bool,
        field: &ast::Name,
        span: Span,
    ) -> Option<Operand> {
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
        self.field(place, id, field, span).map(Operand::Place)
    }

    /// Returns the place of a field, through anonymous members.
    fn field(&mut self, base: Place, id: RecordId, name: &ast::Name, span: Span) -> Option<Place> {
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

    pub(super) fn offsetof(
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
}
