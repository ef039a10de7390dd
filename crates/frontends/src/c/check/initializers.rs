//! Initialisers: lists in braces, designators and strings, flattened to offsets and values.
//!
//! The list of an aggregate may leave out inner braces. A stack of frames holds the aggregates that
//! are being filled; the next value goes to the top frame, or opens a new frame there.
//!
//! DIVERGENCE: the value of a range `[a ... b]` is evaluated once for each element.

use fencepost_ir::Span;

use super::conversions::{Purpose, constant};
use super::expressions::string_bytes;
use super::layout::LARGEST;
use super::{Checker, UNSIZED};
use crate::c::ast;
use crate::c::codes;
use crate::c::typed::{Expr, Init, InitItem, Type, TypeKind};

/// The largest number of values of an initialiser.
const LARGEST_INITIALIZER: usize = 1 << 16;

/// An aggregate that is being filled.
#[derive(Clone, Debug)]
struct Frame {
    ty: Type,
    offset: u64,
    /// The next element or field.
    next: u64,
}

/// The values found so far.
#[derive(Debug)]
struct Filling {
    is_static: bool,
    /// Each value with its size.
    items: Vec<(InitItem, u64)>,
    /// The number of elements of an array without a size.
    count: u64,
    /// The number of filled objects. It bounds the running time of nested ranges.
    steps: usize,
}

impl Filling {
    /// Adds a value. A later value replaces earlier ones.
    fn add(&mut self, offset: u64, value: Expr, size: u64) {
        // Most values come in order, so that nothing is replaced.
        if self.items.last().is_some_and(|(last, last_size)| last.offset + last_size > offset) {
            let end = offset + size;
            self.items.retain(|(item, _)| item.offset < offset || item.offset >= end);
        }
        self.items.push((InitItem { offset, value }, size));
    }
}

/// A value of a list: the source, or the checked expression after a first look.
enum Source<'e> {
    Initializer(&'e ast::Initializer),
    Checked(Expr),
}

impl Checker<'_> {
    /// Checks the initialiser of an object. Returns its type, with the size of an array that had
    /// none, and the values by offset. Those of a static object are constants or addresses.
    pub(super) fn initializer(
        &mut self,
        ty: &Type,
        initializer: &ast::Initializer,
        span: Span,
        is_static: bool,
    ) -> Option<(Type, Init)> {
        let mut ty = ty.clone();
        let mut filling = Filling { is_static, items: Vec::new(), count: 0, steps: 0 };
        let is_list = matches!(initializer, ast::Initializer::List(..));
        if let TypeKind::Unsupported { name, .. } = &ty.kind {
            let name = name.clone();
            self.unsupported_type(&name, span);
            return None;
        }
        let zero = is_list || matches!(ty.kind, TypeKind::Array(..));
        self.fill_object(&ty, 0, Source::Initializer(initializer), span, &mut filling)?;
        if let TypeKind::Array(_, count) = &mut ty.kind
            && *count == UNSIZED
        {
            *count = filling.count;
        }
        filling.items.sort_by_key(|(item, _)| item.offset);
        let items = filling.items.into_iter().map(|(item, _)| item).collect();
        Some((ty, Init { zero, items }))
    }

    /// Fills one object, whose initialiser stands alone or in its own braces.
    fn fill_object(
        &mut self,
        ty: &Type,
        offset: u64,
        source: Source<'_>,
        span: Span,
        filling: &mut Filling,
    ) -> Option<()> {
        let source = match source {
            Source::Initializer(initializer) => initializer,
            Source::Checked(value) => return self.fill_value(ty, offset, value, filling),
        };
        if let (TypeKind::Array(element, count), Some(text)) = (&ty.kind, string_of(source))
            && is_char(element)
        {
            return self.fill_string(text, element, *count, offset, span, filling);
        }
        match source {
            ast::Initializer::List(items, list) => match &ty.kind {
                TypeKind::Array(..) | TypeKind::Record(_) => {
                    self.fill_list(ty, offset, items, *list, filling)
                }
                _ => self.fill_scalar_list(ty, offset, items, *list, filling),
            },
            // `= (type){ ... }` initialises in place.
            ast::Initializer::Expr(ast::Expr {
                kind: ast::ExprKind::Compound { ty: name, initializer },
                span,
                ..
            }) if matches!(ty.kind, TypeKind::Array(..) | TypeKind::Record(_)) => {
                let literal = self.type_name(name)?;
                if literal.kind == ty.kind || matches!(ty.kind, TypeKind::Array(_, UNSIZED)) {
                    return self.fill_list(ty, offset, initializer, *span, filling);
                }
                let ast::Initializer::Expr(expr) = source else { return None };
                let value = self.value(expr)?;
                self.fill_value(ty, offset, value, filling)
            }
            ast::Initializer::Expr(expr) => {
                if let TypeKind::Array(..) = ty.kind {
                    let message = "the initial value of an array is a list in braces";
                    self.error(codes::INITIALIZER, expr.span, message)
                        .hint("write `{ ... }` around the values");
                    return None;
                }
                let value = self.value(expr)?;
                self.fill_value(ty, offset, value, filling)
            }
        }
    }

    fn fill_value(
        &mut self,
        ty: &Type,
        offset: u64,
        value: Expr,
        filling: &mut Filling,
    ) -> Option<()> {
        let mut value = self.assignable(value, ty, Purpose::Initialize)?;
        if filling.is_static {
            value = self.static_value(value)?;
        }
        let size = self.size_of(ty).unwrap_or(0);
        filling.add(offset, value, size);
        Some(())
    }

    fn fill_string(
        &mut self,
        text: &ast::Expr,
        element: &Type,
        count: u64,
        offset: u64,
        span: Span,
        filling: &mut Filling,
    ) -> Option<()> {
        let ast::ExprKind::String(content) = &text.kind else { return None };
        let mut bytes = string_bytes(content);
        if count == UNSIZED {
            filling.count = bytes.len() as u64 + 1;
            bytes.push(0);
        } else if bytes.len() as u64 > count {
            let message =
                format!("a string of {} characters does not fit into {count}", bytes.len());
            self.error(codes::INITIALIZER, text.span, message).related(span, "declared here");
            return None;
        }
        let TypeKind::Int(int) = element.kind else { return None };
        for (position, byte) in bytes.iter().enumerate() {
            let value = super::constants::wrap(i64::from(*byte), int);
            let value = constant(value, super::conversions::unqualified(element), text.span);
            filling.add(offset + position as u64, value, 1);
        }
        Some(())
    }

    /// `{ value }` for a scalar. `{}` is 0.
    fn fill_scalar_list(
        &mut self,
        ty: &Type,
        offset: u64,
        items: &[ast::InitializerItem],
        span: Span,
        filling: &mut Filling,
    ) -> Option<()> {
        match items {
            [] => {
                let zero = constant(0, super::int(), span);
                self.fill_value(ty, offset, zero, filling)
            }
            [item] if item.designators.is_empty() => {
                self.fill_object(ty, offset, Source::Initializer(&item.value), span, filling)
            }
            _ => {
                let message = format!("an object of type `{}` has one value", self.type_text(ty));
                self.error(codes::INITIALIZER, span, message);
                None
            }
        }
    }

    /// Fills an aggregate from the list in its own braces.
    fn fill_list(
        &mut self,
        ty: &Type,
        offset: u64,
        items: &[ast::InitializerItem],
        span: Span,
        filling: &mut Filling,
    ) -> Option<()> {
        self.complete_element(ty, span)?;
        let bottom = Frame { ty: ty.clone(), offset, next: 0 };
        let mut frames = vec![bottom.clone()];
        let mut failed = false;
        for item in items {
            if item.designators.is_empty() {
                failed |= self.fill_next(&mut frames, &item.value, filling).is_none();
                if failed && frames.is_empty() {
                    // The list is too long: one message is enough.
                    break;
                }
                continue;
            }
            frames = vec![bottom.clone()];
            let repeats = self.designate(&mut frames, &item.designators);
            let Some(repeats) = repeats else {
                failed = true;
                continue;
            };
            for repeat in 0..repeats {
                // All repetitions but the last leave the frames as they are.
                let mut copy = frames.clone();
                if let Some(top) = copy.last_mut() {
                    top.next += repeat;
                }
                if self.fill_next(&mut copy, &item.value, filling).is_none() {
                    failed = true;
                    break;
                }
                if repeat + 1 == repeats {
                    frames = copy;
                    break;
                }
            }
        }
        (!failed).then_some(())
    }

    /// Checks that the elements of an aggregate have a size.
    fn complete_element(&mut self, ty: &Type, span: Span) -> Option<()> {
        match &ty.kind {
            TypeKind::Array(element, _) => self.complete_size(element, span).map(|_| ()),
            _ => self.complete_size(ty, span).map(|_| ()),
        }
    }

    /// Moves the frames to a designated object. Returns the number of elements in its range.
    fn designate(
        &mut self,
        frames: &mut Vec<Frame>,
        designators: &[ast::Designator],
    ) -> Option<u64> {
        let mut repeats = 1;
        for (position, designator) in designators.iter().enumerate() {
            if position > 0 {
                self.enter(frames)?;
            }
            match designator {
                ast::Designator::Field(name) => {
                    let TypeKind::Record(id) = frames.last()?.ty.kind else {
                        let ty = self.type_text(&frames.last()?.ty.clone());
                        let message = format!("`.{}` needs a record, not `{ty}`", name.text);
                        self.error(codes::INITIALIZER, name.span, message);
                        return None;
                    };
                    let path = self.field_path(id, name)?;
                    for (depth, field) in path.iter().enumerate() {
                        if depth > 0 {
                            self.enter(frames)?;
                        }
                        frames.last_mut()?.next = *field as u64;
                    }
                }
                ast::Designator::Index(index) => {
                    frames.last_mut()?.next = self.array_position(frames, index)?;
                }
                ast::Designator::Range(first, last) => {
                    let first_at = self.array_position(frames, first)?;
                    let last_at = self.array_position(frames, last)?;
                    if last_at < first_at || position + 1 != designators.len() {
                        let span = first.span.to(last.span);
                        let message = "this range is empty or has designators after it";
                        self.error(codes::INITIALIZER, span, message);
                        return None;
                    }
                    frames.last_mut()?.next = first_at;
                    repeats = last_at - first_at + 1;
                }
            }
        }
        Some(repeats)
    }

    /// Evaluates the index of a designator.
    fn array_position(&mut self, frames: &[Frame], index: &ast::Expr) -> Option<u64> {
        let ty = frames.last()?.ty.clone();
        let TypeKind::Array(element, count) = &ty.kind else {
            let message = format!("`[...]` needs an array, not `{}`", self.type_text(&ty));
            self.error(codes::INITIALIZER, index.span, message);
            return None;
        };
        let value = self.constant(index)?;
        let limit = LARGEST / self.size_of(element).unwrap_or(1).max(1);
        let limit = if *count == UNSIZED { limit } else { *count };
        if !(0..limit as i64).contains(&value) {
            let message = format!("the index {value} is outside of `{}`", self.type_text(&ty));
            self.error(codes::INITIALIZER, index.span, message);
            return None;
        }
        Some(value as u64)
    }

    /// Opens the next object of the top frame as a frame of its own.
    fn enter(&mut self, frames: &mut Vec<Frame>) -> Option<()> {
        let top = frames.last_mut()?;
        let position = top.next;
        let top = top.clone();
        let (ty, offset) = self.part(&top, position)?;
        frames.last_mut()?.next = self.after(&top, position);
        frames.push(Frame { ty, offset: top.offset + offset, next: 0 });
        Some(())
    }

    /// Returns the position after a part: only one field of a union has a value.
    fn after(&self, frame: &Frame, position: u64) -> u64 {
        match &frame.ty.kind {
            TypeKind::Record(id) if self.record(*id).is_union => u64::MAX,
            _ => position + 1,
        }
    }

    /// Returns the type and offset of a part of an aggregate. `None` after the last one.
    fn part(&self, frame: &Frame, position: u64) -> Option<(Type, u64)> {
        match &frame.ty.kind {
            TypeKind::Array(element, count) => {
                let inside = position < *count;
                inside.then_some(())?;
                let size = self.size_of(element)?;
                Some(((**element).clone(), position.checked_mul(size)?))
            }
            TypeKind::Record(id) => {
                let field = self.record(*id).fields.get(usize::try_from(position).ok()?)?;
                Some((field.ty.clone(), field.offset))
            }
            _ => None,
        }
    }

    fn is_bit_field(&self, frame: &Frame, position: u64) -> Option<String> {
        let TypeKind::Record(id) = frame.ty.kind else { return None };
        let field = self.record(id).fields.get(usize::try_from(position).ok()?)?;
        field.index.is_none().then(|| field.name.clone())
    }

    /// Fills the next object with a value of the list.
    fn fill_next(
        &mut self,
        frames: &mut Vec<Frame>,
        value: &ast::Initializer,
        filling: &mut Filling,
    ) -> Option<()> {
        let span = initializer_span(value);
        filling.steps += 1;
        if filling.steps > LARGEST_INITIALIZER {
            let message = format!("an initialiser has at most {LARGEST_INITIALIZER} values");
            self.error(codes::OBJECT_TOO_LARGE, span, message);
            frames.clear();
            return None;
        }
        let mut checked: Option<Expr> = None;
        loop {
            let Some(top) = frames.last().cloned() else {
                self.error(codes::INITIALIZER, span, "this list has too many values");
                return None;
            };
            let Some((ty, offset)) = self.part(&top, top.next) else {
                frames.pop();
                continue;
            };
            if let Some(name) = self.is_bit_field(&top, top.next) {
                self.report_bit_field(&name, span);
                frames.clear();
                return None;
            }
            if frames.len() == 1 && matches!(top.ty.kind, TypeKind::Array(_, UNSIZED)) {
                filling.count = filling.count.max(top.next + 1);
            }
            let offset = top.offset + offset;
            let is_aggregate = matches!(ty.kind, TypeKind::Array(..) | TypeKind::Record(_));
            let whole = !is_aggregate || self.fills_whole(&ty, value, &mut checked)?;
            if !whole {
                if self.part(&Frame { ty: ty.clone(), offset: 0, next: 0 }, 0).is_none() {
                    // An aggregate without parts, such as a flexible array, takes no value.
                    frames.last_mut()?.next = self.after(&top, top.next);
                    continue;
                }
                self.enter(frames)?;
                continue;
            }
            frames.last_mut()?.next = self.after(&top, top.next);
            let source = match checked {
                Some(value) => Source::Checked(value),
                None => Source::Initializer(value),
            };
            return self.fill_object(&ty, offset, source, span, filling);
        }
    }

    /// Returns whether a value initialises a whole aggregate, not its first part.
    fn fills_whole(
        &mut self,
        ty: &Type,
        value: &ast::Initializer,
        checked: &mut Option<Expr>,
    ) -> Option<bool> {
        let expr = match value {
            ast::Initializer::List(..) => return Some(true),
            ast::Initializer::Expr(expr) => expr,
        };
        match &ty.kind {
            TypeKind::Array(element, _) => Some(is_char(element) && string_of(value).is_some()),
            TypeKind::Record(_) => {
                if let ast::ExprKind::Compound { ty: name, .. } = &expr.kind
                    && checked.is_none()
                {
                    return Some(self.type_name(name)?.kind == ty.kind);
                }
                if checked.is_none() {
                    // A string may belong to an array further inside.
                    if string_of(value).is_some() {
                        return Some(false);
                    }
                    *checked = Some(self.value(expr)?);
                }
                Some(checked.as_ref().is_some_and(|value| value.ty.kind == ty.kind))
            }
            _ => Some(true),
        }
    }
}

fn is_char(ty: &Type) -> bool {
    matches!(ty.kind, TypeKind::Int(int) if int.bits == 8 && !int.is_bool)
}

/// Returns the string literal that an initialiser consists of, also in braces.
fn string_of(initializer: &ast::Initializer) -> Option<&ast::Expr> {
    match initializer {
        ast::Initializer::Expr(expr) => {
            matches!(expr.kind, ast::ExprKind::String(_)).then_some(expr)
        }
        ast::Initializer::List(items, _) => match items.as_slice() {
            [item] if item.designators.is_empty() => match &item.value {
                ast::Initializer::Expr(_) => string_of(&item.value),
                ast::Initializer::List(..) => None,
            },
            _ => None,
        },
    }
}

fn initializer_span(initializer: &ast::Initializer) -> Span {
    match initializer {
        ast::Initializer::Expr(expr) => expr.span,
        ast::Initializer::List(_, span) => *span,
    }
}
