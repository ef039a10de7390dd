//! `memcpy`, `memmove` and `memset`: scalar by scalar, with a constant size.
//!
//! The scalars come from the types of the pointers. `memset` sets bytes, so it needs the value 0 or
//! -1, or scalars of one byte.

use fencepost_ir::{Expr, Span};

use super::access::{AccessMode, pointee_type};
use super::arithmetic::Val;
use super::layout::{Scalar, limits, size_of};
use super::places::{Spot, move_spot};
use super::thread::Lowerer;
use crate::c::codes;
use crate::c::typed::{Expr as TypedExpr, Type, TypeKind};

/// The largest number of scalars of a copy.
const MAX_SCALARS: u64 = 4096;

impl<'p> Lowerer<'_, 'p> {
    /// Copies memory. Returns the target.
    pub(super) fn copy_memory(
        &mut self,
        target: &'p TypedExpr,
        source: &'p TypedExpr,
        size: &'p TypedExpr,
        span: Span,
    ) -> Val {
        let (to, from) = (self.pointee(target), self.pointee(source));
        let size = self.value(size);
        let result = self.address_of(to.clone(), span);
        let types = [pointee_type(target), pointee_type(source)];
        let Some(scalars) = self.copied_scalars(&types, &[&to, &from], &size, span) else {
            return result;
        };
        let mut values = Vec::new();
        for scalar in &scalars {
            let ty = Type::plain(TypeKind::Int(scalar.ty));
            let cell = self.cell(move_spot(from.clone(), scalar.offset), &ty, span);
            values.push(self.load_copy(&cell, &ty, span));
        }
        for (number, (scalar, value)) in scalars.iter().zip(values).enumerate() {
            let ty = Type::plain(TypeKind::Int(scalar.ty));
            let cell = self.cell(move_spot(to.clone(), scalar.offset), &ty, span);
            self.store(&cell, value, scalar.ty, AccessMode::Plain, (span, number as u32));
        }
        result
    }

    /// Sets all bytes of memory. Returns the target.
    pub(super) fn set_memory(
        &mut self,
        target: &'p TypedExpr,
        value: &'p TypedExpr,
        size: &'p TypedExpr,
        span: Span,
    ) -> Val {
        let to = self.pointee(target);
        let value = self.value(value);
        let size = self.value(size);
        let result = self.address_of(to.clone(), span);
        let types = [pointee_type(target)];
        let Some(scalars) = self.copied_scalars(&types, &[&to], &size, span) else {
            return result;
        };
        for (number, scalar) in scalars.iter().enumerate() {
            let set = match value.as_const().map(|value| value & 0xff) {
                Some(0) => Expr::Const(0),
                Some(0xff) if scalar.ty.signed => Expr::Const(-1),
                Some(0xff) if scalar.ty.bits == 64 => Expr::Const(-1),
                Some(0xff) => Expr::Const(limits(scalar.ty).1),
                _ if scalar.ty.bits == 8 => self.converted(value.clone(), scalar.ty),
                _ => {
                    self.copy_error("sets bytes of larger scalars to a value that is not 0", span);
                    return result;
                }
            };
            let ty = Type::plain(TypeKind::Int(scalar.ty));
            let cell = self.cell(move_spot(to.clone(), scalar.offset), &ty, span);
            self.store(&cell, set, scalar.ty, AccessMode::Plain, (span, number as u32));
        }
        result
    }

    fn copy_error(&mut self, what: &str, span: Span) {
        self.error(
            codes::MEMORY_COPY,
            span,
            format!("this call {what}"),
            "copy or set the members one by one",
        );
    }

    /// Returns the scalars of a piece of memory.
    fn copied_scalars(
        &mut self,
        types: &[Type],
        spots: &[&Spot],
        size: &Val,
        span: Span,
    ) -> Option<Vec<Scalar>> {
        if !self.is_live() {
            return None;
        }
        let Some(size) = size.as_const().and_then(|size| u64::try_from(size).ok()) else {
            self.copy_error("has a size that is not a constant", span);
            return None;
        };
        // A known object knows its scalars better than the type of a pointer.
        for spot in spots {
            if let Spot::Object { id, offset, steps } = spot
                && steps.is_empty()
                && let Some(object) = self.pass.memory.object(*id)
                && offset + size <= object.size
            {
                let inside = object
                    .scalars
                    .iter()
                    .filter(|scalar| (*offset..offset + size).contains(&scalar.offset));
                let moved = inside
                    .map(|scalar| Scalar { offset: scalar.offset - offset, ..scalar.clone() });
                return Some(moved.collect());
            }
        }
        let is_bytes = |ty: &Type| size_of(self.pass.program, ty) <= 1;
        let ty = types.iter().find(|ty| !is_bytes(ty)).or(types.first())?.clone();
        let one = size_of(self.pass.program, &ty).max(1);
        if matches!(ty.kind, TypeKind::Void) || size % one != 0 || size / one > MAX_SCALARS {
            self.copy_error("has a size that does not fit the types of its pointers", span);
            return None;
        }
        let scalars = self.pass.scalars(&ty, span);
        let mut all = Vec::new();
        for at in 0..size / one {
            all.extend(
                scalars
                    .iter()
                    .map(|scalar| Scalar { offset: scalar.offset + at * one, ..scalar.clone() }),
            );
        }
        Some(all)
    }
}
